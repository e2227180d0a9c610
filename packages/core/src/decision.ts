import type { Answer } from './algorithms/algorithm.ts';
import type { Identity } from './identity/identity.ts';
import type { PolicyCharges } from './policy/charge.ts';
import type { Policy, QuotaRule } from './policy/policy.ts';

/** One limit's answer to one request. */
export interface Outcome extends Answer {
  /** The limit's name in headers. */
  readonly name: string;
  readonly limit: number;
  readonly windowMs: number;
  /** Units that the request asked for. */
  readonly cost: number;
  /** Whether headers may tell of it. */
  readonly disclosed: boolean;
  readonly policy: Policy<never>;
}

/**
 * Where an answer came from: the store; or, while it could not be asked, the same limits in memory (`local`), or the
 * policy's word that everything passes (`open`) or nothing does (`closed`).
 */
export type DecisionSource = 'store' | 'local' | 'open' | 'closed';

/** The answer to one request. */
export interface Decision {
  readonly allowed: boolean;
  /** The limit that decides: when denied, the longest wait; when allowed, the fewest further requests of this cost. */
  readonly binding: Outcome | undefined;
  readonly outcomes: readonly Outcome[];
  readonly source: DecisionSource;
  /** When the same request passes: 0 when it just did, Infinity when it never can, undefined when nobody knows. */
  readonly retryAfterMs: number | undefined;
  readonly policies: readonly Policy<never>[];
  readonly identity: Identity;
}

/** Names the answers of the limits, in the order in which they were asked. */
export function toOutcomes(
  asked: readonly PolicyCharges[],
  answers: readonly Answer[],
  rule: 'rule' | 'localRule',
): Outcome[] {
  const outcomes: Outcome[] = [];
  for (const { policy, charges } of asked) {
    for (const charge of charges) {
      outcomes.push(toOutcome(answers[outcomes.length] as Answer, charge[rule], charge.cost, policy));
    }
  }
  return outcomes;
}

function toOutcome(answer: Answer, rule: QuotaRule, cost: number, policy: Policy<never>): Outcome {
  const { allowed, reason, remaining, nextMs, resetMs, retryAfterMs } = answer;
  const { name, limit, windowMs, disclosed } = rule;
  return { name, limit, windowMs, cost, disclosed, policy, allowed, reason, remaining, nextMs, resetMs, retryAfterMs };
}

/** Joins the outcomes of all limits of a request. */
export function decide(
  policies: readonly Policy<never>[],
  outcomes: readonly Outcome[],
  identity: Identity,
  source: DecisionSource,
): Decision {
  const binding = bindingOf(outcomes);
  const allowed = source !== 'closed' && binding?.allowed !== false;
  const retryAfterMs = allowed ? 0 : source === 'closed' ? undefined : binding?.retryAfterMs;
  return { allowed, binding, outcomes, source, retryAfterMs, policies, identity };
}

/** The limit that decides among some outcomes; undefined when there are none. */
export function bindingOf(outcomes: readonly Outcome[]): Outcome | undefined {
  let binding: Outcome | undefined;
  for (const outcome of outcomes) if (binding === undefined || isTighter(outcome, binding)) binding = outcome;
  return binding;
}

function isTighter(a: Outcome, b: Outcome): boolean {
  if (a.allowed !== b.allowed) return !a.allowed;
  if (!a.allowed) return a.retryAfterMs > b.retryAfterMs;
  return furtherRequests(a) < furtherRequests(b);
}

function furtherRequests({ remaining, cost }: Outcome): number {
  return Math.floor(remaining / Math.max(1, cost));
}
