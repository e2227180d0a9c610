import type { Answer } from './algorithms/algorithm.ts';
import { StoreError } from './errors.ts';
import type { Identity } from './identity/identity.ts';
import type { MaybePromise } from './maybe.ts';
import type { Charge, PolicyCharges } from './policy/charge.ts';
import type { Policy, QuotaRule } from './policy/policy.ts';

/** One limit's answer to one request. */
export interface Outcome extends Answer {
  /** The limit's name in headers. */
  readonly name: string;
  readonly limit: number;
  /** The most units at once: of a bucket its burst, else the limit. */
  readonly burst: number;
  readonly windowMs: number;
  /** Units that the request asked for. */
  readonly cost: number;
  /** Whether headers may tell of it. */
  readonly disclosed: boolean;
  /** Whose counter it is, as in keys: an address in the clear, what may be secret or personal hashed. */
  readonly partition: string;
  readonly policy: Policy<never>;
}

/**
 * Where an answer came from: the store; or, while it could not be asked, the same limits in memory (`local`), or the
 * policy's word that everything passes (`open`) or nothing does (`closed`).
 */
export type DecisionSource = 'store' | 'local' | 'open' | 'closed';

/** The answer to one request. */
export interface Verdict {
  readonly allowed: boolean;
  /** The limit that decides: when denied, the longest wait; when allowed, the fewest further requests of this cost. */
  readonly binding: Outcome | undefined;
  /**
   * What may be told to the client: of the limits that headers may tell of, the one that binds. Undefined while the
   * answer is degraded (it would be invented) and where the policies disclose no quota.
   */
  readonly quota: Outcome | undefined;
  readonly outcomes: readonly Outcome[];
  /** What policies in shadow mode would have said. */
  readonly shadow: readonly Outcome[];
  readonly source: DecisionSource;
  /** When the same request passes: 0 when it just did, Infinity when it never can, undefined when nobody knows. */
  readonly retryAfterMs: number | undefined;
  /** How long the request had to wait for its turn in a leaky bucket that shapes. */
  readonly delayMs: number;
  /** The client went away while it waited for its turn; the request is not to be handled. */
  readonly cancelled: boolean;
  readonly policies: readonly Policy<never>[];
  readonly identity: Identity;
}

/** The answer to one request, and what can still be done about what it was charged: once, whichever comes first. */
export interface Decision extends Verdict {
  /**
   * Gives back what the request was charged, as far as it still counts. Goes to the store that charged, is never
   * retried, never fails; tells whether anything was given back.
   */
  refund(): MaybePromise<boolean>;
  /**
   * Replaces the policy's cost by what the request turned out to cost: the difference is given back, or charged as debt.
   * Limits with a cost of their own are left alone. Reserve with a sliding window: a bucket drains while the call runs.
   * @param actual units, a whole number from 0; anything else keeps the reservation
   */
  settle(actual: number): MaybePromise<boolean>;
}

/** Field by field: to spread a verdict into a larger object takes as long as half of a decision in memory. */
export function toDecision(verdict: Verdict, { refund, settle }: Pick<Decision, 'refund' | 'settle'>): Decision {
  const { allowed, binding, quota, outcomes, shadow, source } = verdict;
  const { retryAfterMs, delayMs, cancelled, policies, identity } = verdict;
  return {
    allowed,
    binding,
    quota,
    outcomes,
    shadow,
    source,
    retryAfterMs,
    delayMs,
    cancelled,
    policies,
    identity,
    refund,
    settle,
  };
}

/** Names the answers of the limits, in the order in which they were asked. */
export function toOutcomes(
  asked: readonly PolicyCharges[],
  answers: readonly Answer[],
  which: 'rule' | 'localRule',
): Outcome[] {
  const outcomes: Outcome[] = [];
  for (const { policy, charges } of asked) {
    for (const charge of charges) {
      const answer = answers[outcomes.length];
      if (answer === undefined) throw new StoreError('failed', 'The store answered fewer limits than it was asked.');
      outcomes.push(toOutcome(answer, charge, charge[which], policy));
    }
  }
  return outcomes;
}

function toOutcome(
  answer: Answer,
  { cost, partition }: Charge,
  { name, limit, burst, windowMs, disclosed }: QuotaRule,
  policy: Policy<never>,
): Outcome {
  const { allowed, reason, remaining, nextMs, resetMs, retryAfterMs, delayMs } = answer;
  return {
    name,
    limit,
    burst,
    windowMs,
    cost,
    disclosed,
    partition,
    policy,
    allowed,
    reason,
    remaining,
    nextMs,
    resetMs,
    retryAfterMs,
    delayMs,
  };
}

/** Joins the outcomes of all limits of a request. */
export function decide(
  policies: readonly Policy<never>[],
  outcomes: readonly Outcome[],
  identity: Identity,
  source: DecisionSource,
  shadow: readonly Outcome[] = [],
): Verdict {
  const binding = bindingOf(outcomes);
  const allowed = source !== 'closed' && binding?.allowed !== false;
  const retryAfterMs = allowed ? 0 : source === 'closed' ? undefined : binding?.retryAfterMs;
  let delayMs = 0;
  if (allowed) for (const outcome of outcomes) delayMs = Math.max(delayMs, outcome.delayMs);
  const quota = source === 'store' ? bindingOf(outcomes.filter(isDisclosed)) : undefined;
  return {
    allowed,
    binding,
    quota,
    outcomes,
    shadow,
    source,
    retryAfterMs,
    delayMs,
    cancelled: false,
    policies,
    identity,
  };
}

/** The limit that decides among some outcomes; undefined when there are none. */
export function bindingOf(outcomes: readonly Outcome[]): Outcome | undefined {
  let binding: Outcome | undefined;
  for (const outcome of outcomes) if (binding === undefined || isTighter(outcome, binding)) binding = outcome;
  return binding;
}

/** Whether headers may tell of a limit. `global` limits and backstops say too much about other clients. */
export function isDisclosed({ disclosed, policy }: Outcome): boolean {
  return disclosed && policy.disclose === 'full';
}

function isTighter(a: Outcome, b: Outcome): boolean {
  if (a.allowed !== b.allowed) return !a.allowed;
  if (!a.allowed) return a.retryAfterMs > b.retryAfterMs;
  return furtherRequests(a) < furtherRequests(b);
}

function furtherRequests({ remaining, cost }: Outcome): number {
  return Math.floor(remaining / Math.max(1, cost));
}
