import type { Answer } from '../algorithms/algorithm.ts';
import { decide, toOutcomes, type Verdict } from '../decision.ts';
import type { Identity } from '../identity/identity.ts';
import { StoreError } from '../errors.ts';
import { isPromise, type MaybePromise } from '../maybe.ts';
import type { PolicyCharges } from '../policy/charge.ts';
import type { Policy } from '../policy/policy.ts';
import type { Adjustment, Store, Taken } from '../stores/store.ts';
import type { WarningListener } from '../warnings.ts';
import { createAttempt } from './attempt.ts';
import { createFallback } from './fallback.ts';
import { createOutage } from './outage.ts';
import { type Settlement, toSettlement } from './settlement.ts';
import type { StoreObserver } from './store-observer.ts';

/** Asks the store within the deadline, and answers in its place when it does not. */
export interface Decider {
  take(asked: readonly PolicyCharges[], identity: Identity): MaybePromise<Settlement>;
  peek(asked: readonly PolicyCharges[], identity: Identity): MaybePromise<Verdict>;
  /** Says nothing any more. */
  close(): void;
  /** @throws StoreError when the store cannot */
  adjust(adjustments: readonly Adjustment[]): MaybePromise<readonly boolean[]>;
}

/**
 * @param observer told how the store fares
 * @param report told when the store stops deciding, and when it decides again
 * @param warn told of what is the matter with single requests
 */
export function createDecider(
  store: Store,
  deadlineMs: number,
  observer: StoreObserver,
  report: WarningListener,
  warn: WarningListener,
): Decider {
  const fallback = createFallback();
  const attempt = createAttempt(deadlineMs, observer);
  const outage = createOutage(store.name, observer, report, warn);

  return {
    take(asked, identity) {
      const enforced = asked.filter(isEnforced);
      // Requests of their own in the same step, so that what is in the shadow can deny nothing that is not.
      const shadows = asked.filter((one) => !isEnforced(one));
      return attempt(
        (deadline) => store.take([chargesOf(enforced), ...shadows.map(({ charges }) => charges)], deadline),
        ([taken, ...others]) => {
          const { answers, at } = taken as Taken;
          const shadow = toOutcomes(
            shadows,
            others.flatMap((other) => other.answers),
            'rule',
          );
          const verdict = decide(policiesOf(asked), toOutcomes(enforced, answers, 'rule'), identity, 'store', shadow);
          outage.decided();
          const charges = chargesOf(enforced);
          if (shadows.length === 0) return toSettlement(verdict, { charges, at, adjust });
          // What the shadow has charged is given back when all else is, or it would look stricter than it will be.
          const charged = shadows.flatMap((one, i) => (others[i]?.answers.every(isAllowed) ? one.charges : []));
          const times = others.flatMap((other) => (other.answers.every(isAllowed) ? other.at : []));
          return toSettlement(verdict, { charges: [...charges, ...charged], at: [...at, ...times], adjust });
        },
        (error) => degrade(error, () => fallback.take(enforced, identity)),
      );
    },
    peek: (asked, identity) =>
      attempt(
        (deadline) => store.peek(chargesOf(asked), deadline),
        (answers) => {
          const outcomes = toOutcomes(asked, answers, 'rule');
          const shadow = outcomes.filter((outcome) => !isEnforced(outcome));
          outage.decided();
          return decide(policiesOf(asked), outcomes.filter(isEnforced), identity, 'store', shadow);
        },
        (error) => degrade(error, () => fallback.peek(asked.filter(isEnforced), identity)),
      ),
    adjust,
    close: () => outage.close(),
  };

  function adjust(adjustments: readonly Adjustment[]): MaybePromise<readonly boolean[]> {
    return attempt(
      (deadline) => {
        const changed = store.adjust(adjustments, deadline);
        return isPromise(changed) ? Promise.resolve(changed).catch(refused) : changed;
      },
      (changed) => changed,
      (error) => {
        if (error instanceof StoreError) throw error;
        throw new StoreError('failed', error instanceof Error ? error.message : String(error), { cause: error });
      },
    );
  }

  /** A right that only changes need is told of, and is no reason to stop deciding. */
  function refused(error: unknown): never {
    outage.refused(error);
    if (!(error instanceof StoreError) || error.code !== 'misconfigured') throw error;
    throw new StoreError('failed', error.message, { cause: error });
  }

  function degrade<T>(error: unknown, answer: () => T): T {
    outage.failed(error);
    return answer();
  }
}

function chargesOf(asked: readonly PolicyCharges[]): PolicyCharges['charges'] {
  return asked.length === 1 ? (asked[0] as PolicyCharges).charges : asked.flatMap(({ charges }) => charges);
}

function policiesOf(asked: readonly PolicyCharges[]): Verdict['policies'] {
  return asked.map(({ policy }) => policy);
}

function isAllowed({ allowed }: Answer): boolean {
  return allowed;
}

function isEnforced({ policy }: { readonly policy: Policy<never> }): boolean {
  return policy.mode === 'enforce';
}
