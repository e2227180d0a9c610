import type { AlgorithmName } from '../algorithms/algorithm.ts';
import { ALGORITHMS } from '../algorithms/algorithms.ts';
import { MAX_LOG_LIMIT } from '../algorithms/sliding-log.ts';
import type { LimitRules, QuotaRule } from './policy.ts';

/** The longest integer of a structured field (RFC 9651 §3.3.1) has 15 digits. */
export const MAX_UNITS = 999_999_999_999_999;

/** Everything about a limit but its number. */
export interface RuleFrame {
  readonly algorithm: AlgorithmName;
  readonly windowMs: number;
  readonly burst: number | undefined;
  readonly maxDelayMs: number | undefined;
  /** Whether requests wait: the backstop of a limit that shapes only polices. */
  readonly isShaping: boolean;
  readonly blockMs: number;
  /** The constant cost, or 1 where it is not known before a request. */
  readonly cost: number;
  /** What one instance grants of a limit while the store is out. */
  readonly share: number;
  /** By how much a backstop is wider than its limit; 1 for a limit itself. */
  readonly factor: number;
  readonly path: string;
  readonly name: string;
  readonly disclosed: boolean;
}

/** The rules of a limit of so many units. */
export function toRules(frame: RuleFrame, limit: number): LimitRules {
  const burst = burstOf(frame, limit);
  const base = toRule(frame, limit, burst);
  const { algorithm, windowMs, factor } = frame;
  const rule = toRule(
    frame,
    Math.min(limit * factor, maxLimit(algorithm, windowMs)),
    Math.min(burst * factor, maxUnits(windowMs)),
  );
  // All clients without an address share one backstop, so for them it is no wider than the limit.
  const strict = { rule: base, localRule: toLocal(frame, base) };
  return { rule, localRule: toLocal(frame, rule), strict, wholeCost: Math.max(1, burst) };
}

function toRule(
  { algorithm, windowMs, maxDelayMs: most, isShaping, blockMs, path, name, disclosed }: RuleFrame,
  limit: number,
  burst: number,
): QuotaRule {
  const maxDelayMs = isShaping ? most : undefined;
  return { algorithm, limit, windowMs, burst, maxDelayMs, blockMs, path, name, disclosed };
}

/** The most units at once: of a window its limit, of a bucket what its options say. */
function burstOf({ algorithm, windowMs, burst, maxDelayMs, cost }: RuleFrame, limit: number): number {
  if (algorithm !== 'leaky-bucket') return burst ?? limit;
  // So that with shaping it is maxDelay that decides, and not the queue: what may be before a request, and the request.
  const before = maxDelayMs === undefined ? 0 : Math.ceil((maxDelayMs * limit) / windowMs);
  return burst ?? Math.min(maxUnits(windowMs), before + (cost >= 1 && cost <= limit ? cost : 1));
}

/** At least 1 and at least the constant cost, or an outage would deny what the policy always lets pass; 0 stays 0. */
function toLocal({ cost, share }: RuleFrame, rule: QuotaRule): QuotaRule {
  const shareOf = (units: number): number => Math.max(Math.min(units, Math.max(1, cost)), Math.floor(units * share));
  return { ...rule, limit: shareOf(rule.limit), burst: shareOf(rule.burst) };
}

/** `<policy>:<limit>:<algorithm><windowMs>`: what shapes the state is in the key. */
export function pathOf(policy: string, limit: string, algorithm: AlgorithmName, windowMs: number): string {
  // encodeURIComponent takes care of everything with a meaning in a key: colons, braces, spaces, percent signs.
  return `${encodeURIComponent(policy)}:${limit}:${ALGORITHMS[algorithm].code}${windowMs}`;
}

/** The steps multiply units by milliseconds and must stay exact; a log is read as a whole. */
export function maxLimit(algorithm: AlgorithmName, factorMs: number): number {
  return algorithm === 'sliding-log' ? MAX_LOG_LIMIT : maxUnits(factorMs);
}

export function maxUnits(factorMs: number): number {
  return Math.min(MAX_UNITS, Math.floor(Number.MAX_SAFE_INTEGER / factorMs));
}
