import type { Answer } from '../algorithms/algorithm.ts';
import { decide, toOutcomes, type Verdict } from '../decision.ts';
import type { Identity } from '../identity/identity.ts';
import { StoreError } from '../errors.ts';
import { isPromise, type MaybePromise } from '../maybe.ts';
import type { PolicyCharges } from '../policy/charge.ts';
import type { Policy } from '../policy/policy.ts';
import { Deadline } from '../stores/deadline.ts';
import type { Adjustment, Store, Taken } from '../stores/store.ts';
import type { WarningListener } from '../warnings.ts';
import { createBreaker } from './breaker.ts';
import { createFallback } from './fallback.ts';
import { type Settlement, toSettlement } from './settlement.ts';
import type { StoreObserver } from './store-observer.ts';

/** Asks the store within the deadline, and answers in its place when it does not. */
export interface Decider {
  take(asked: readonly PolicyCharges[], identity: Identity): MaybePromise<Settlement>;
  peek(asked: readonly PolicyCharges[], identity: Identity): MaybePromise<Verdict>;
  /** @throws StoreError when the store cannot */
  adjust(adjustments: readonly Adjustment[]): MaybePromise<readonly boolean[]>;
}

/** How long the store has to answer without a failure before it counts as recovered: a flapping one is one outage. */
const RECOVERY_MS = 2000;
const RECOVERED = `It decided for ${RECOVERY_MS / 1000} s without a failure.`;
/** Calls that the store may owe an answer. What is on its way to a stopped server is counted when it goes on: not more than this. */
const MAX_PENDING = 1000;

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
  const breaker = createBreaker(undefined, observer.moved);
  /** Calls that the store has not answered, in time or not. */
  let pending = 0;
  let isMisconfigured = false;
  /** When it last failed; undefined while it decides. */
  let failedAt: number | undefined;

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
          recover();
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
          recover();
          return decide(policiesOf(asked), outcomes.filter(isEnforced), identity, 'store', shadow);
        },
        (error) => degrade(error, () => fallback.peek(asked.filter(isEnforced), identity)),
      ),
    adjust,
  };

  function adjust(adjustments: readonly Adjustment[]): MaybePromise<readonly boolean[]> {
    return attempt(
      (deadline) => store.adjust(adjustments, deadline),
      (changed) => changed,
      (error) => {
        if (error instanceof StoreError) throw error;
        throw new StoreError('failed', error instanceof Error ? error.message : String(error), { cause: error });
      },
    );
  }

  /** Asks the store within the deadline, if it is to be asked. Whatever goes wrong on the way to an answer is a failure of the store. */
  function attempt<T, A>(
    ask: (deadline: Deadline) => MaybePromise<T>,
    read: (answer: T) => A,
    failed: (error: unknown) => A,
  ): MaybePromise<A> {
    const call = pending < MAX_PENDING ? breaker.enter() : undefined;
    if (call === undefined) return failed(new StoreError('unavailable', 'It did not decide just now.'));
    const since = observer.now();
    const succeed = (answer: T): A => {
      const value = read(answer);
      breaker.succeeded(call);
      if (since !== undefined) observer.called(since, 'ok');
      return value;
    };
    const fail = (error: unknown): A => {
      breaker.failed(call, error);
      if (since !== undefined) observer.called(since, error instanceof StoreError ? error.code : 'failed');
      return failed(error);
    };
    try {
      const deadline = new Deadline(deadlineMs);
      const answer = ask(deadline);
      if (!isPromise(answer)) return succeed(answer);
      pending++;
      return deadline.race(answer, settled).then(succeed).catch(fail);
    } catch (error) {
      return fail(error);
    }
  }

  function settled(): void {
    pending--;
  }

  function degrade<T>(error: unknown, answer: () => T): T {
    const code = error instanceof StoreError ? error.code : undefined;
    const why = error instanceof Error ? error.message : String(error);
    if (code === 'failed') {
      // One key, or one answer: the others are decided as ever.
      warn('store-failed', `The ${store.name} store could not decide a request: ${why}`);
      return answer();
    }
    const isFirst = failedAt === undefined;
    failedAt = performance.now();
    if (code === 'misconfigured' && !isMisconfigured) {
      isMisconfigured = true;
      report('store-misconfigured', `The ${store.name} store refuses: ${why}`);
    }
    if (isFirst) {
      observer.changed({ state: 'degraded', store: store.name, reason: why });
      report(
        'store-degraded',
        `The ${store.name} store cannot decide: ${why} Policies answer by their onStoreFailure.`,
      );
    }
    return answer();
  }

  function recover(): void {
    if (failedAt === undefined || performance.now() - failedAt < RECOVERY_MS) return;
    failedAt = undefined;
    isMisconfigured = false;
    observer.changed({ state: 'recovered', store: store.name, reason: RECOVERED });
    report('store-recovered', `The ${store.name} store decides again.`);
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
