import { type Decision, toDecision, type Verdict } from '../decision.ts';
import { isPromise, type MaybePromise } from '../maybe.ts';
import type { Charge } from '../policy/charge.ts';
import type { Adjustment } from '../stores/store.ts';

/** What was charged, when, and how to change it in the store that charged it. */
export interface Receipt {
  readonly charges: readonly Charge[];
  readonly at: readonly number[];
  readonly adjust: (adjustments: readonly Adjustment[]) => MaybePromise<readonly boolean[]>;
}

/** A decision, and what the limiter itself may still do about it. */
export interface Settlement {
  readonly decision: Decision;
  /** Gives some of the charges back, unless they were given back or settled before. */
  giveBack(charges: readonly Charge[]): MaybePromise<boolean>;
  /** Forgets the counters of some of the charges. */
  reset(charges: readonly Charge[]): MaybePromise<boolean>;
}

/** Without a receipt (denied, or decided without a store) there is nothing to give back. */
export function toSettlement(verdict: Verdict, receipt: Receipt | undefined): Settlement {
  // Made when first needed: of most requests nothing is ever given back.
  let charged: Map<Charge, number> | undefined;
  const open = (): Map<Charge, number> => (charged ??= timesOf(verdict.allowed ? receipt : undefined));

  /** Never fails: what was given back too late, or not at all, only makes the limiter stricter. */
  const change = (adjustments: readonly Adjustment[]): MaybePromise<boolean> => {
    if (receipt === undefined || adjustments.length === 0) return false;
    try {
      const changed = receipt.adjust(adjustments);
      return isPromise(changed) ? Promise.resolve(changed).then(someTrue, () => false) : someTrue(changed);
    } catch {
      return false;
    }
  };
  /** Each charge once: whatever becomes of it, a second attempt could give back what others have charged since. */
  const spend = (charges: Iterable<Charge>, moreOf: (charge: Charge) => number): MaybePromise<boolean> => {
    const adjustments: Adjustment[] = [];
    for (const charge of charges) {
      const at = open().get(charge);
      if (at === undefined) continue;
      open().delete(charge);
      const more = moreOf(charge);
      if (more !== 0) adjustments.push({ kind: more > 0 ? 'debit' : 'refund', charge, units: Math.abs(more), at });
    }
    return change(adjustments);
  };

  return {
    decision: toDecision(verdict, {
      refund: () => spend([...open().keys()], everything),
      settle(actual) {
        if (!Number.isSafeInteger(actual) || actual < 0) return false;
        return spend([...open().keys()], ({ ownCost, cost }) => (ownCost ? 0 : actual - cost));
      },
    }),
    giveBack: (charges) => spend(charges, everything),
    reset: (charges) => change(charges.map((charge) => ({ kind: 'reset', charge, units: 0, at: 0 }))),
  };
}

/** When each charge was made. */
function timesOf(receipt: Receipt | undefined): Map<Charge, number> {
  return new Map(receipt?.charges.map((charge, i) => [charge, receipt.at[i] ?? 0]));
}

function someTrue(changed: readonly boolean[]): boolean {
  return changed.includes(true);
}

function everything({ cost }: Charge): number {
  return -cost;
}
