import type { Decision, Verdict } from '../decision.ts';
import { isPromise, type MaybePromise } from '../maybe.ts';
import type { Charge } from '../policy/charge.ts';
import type { Adjustment } from '../stores/store.ts';

/** What was charged, when, and how to change it in the store that charged it. */
export interface Receipt {
  readonly charges: readonly Charge[];
  readonly at: readonly number[];
  readonly adjust: (adjustments: readonly Adjustment[]) => MaybePromise<readonly boolean[]>;
}

/** A verdict with its handles. Without a receipt (denied, or decided without a store) there is nothing to give back. */
export function toDecision(verdict: Verdict, receipt: Receipt | undefined): Decision {
  let open = verdict.allowed ? receipt : undefined;

  const spend = (changesOf: (receipt: Receipt) => readonly Adjustment[]): MaybePromise<boolean> => {
    // Once: whatever becomes of it, a second attempt could give back what others have charged since.
    const spent = open;
    open = undefined;
    if (spent === undefined) return false;
    const changes = changesOf(spent).filter(({ units }) => units > 0);
    if (changes.length === 0) return false;
    try {
      const changed = spent.adjust(changes);
      return isPromise(changed) ? Promise.resolve(changed).then(someTrue, () => false) : someTrue(changed);
    } catch {
      return false;
    }
  };

  return {
    ...verdict,
    refund: () =>
      spend(({ charges, at }) =>
        charges.map((charge, i) => ({ kind: 'refund', charge, units: charge.cost, at: at[i] ?? 0 })),
      ),
    settle(actual) {
      if (!Number.isSafeInteger(actual) || actual < 0) return false;
      return spend(({ charges, at }) =>
        charges.map((charge, i): Adjustment => {
          const more = charge.ownCost ? 0 : actual - charge.cost;
          return { kind: more > 0 ? 'debit' : 'refund', charge, units: Math.abs(more), at: at[i] ?? 0 };
        }),
      );
    },
  };
}

function someTrue(changed: readonly boolean[]): boolean {
  return changed.includes(true);
}
