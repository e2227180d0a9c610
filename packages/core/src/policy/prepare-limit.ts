import type { AlgorithmName } from '../algorithms/algorithm.ts';
import { ALGORITHM_NAMES, ALGORITHMS } from '../algorithms/algorithms.ts';
import { MAX_LOG_LIMIT } from '../algorithms/sliding-log.ts';
import type { Resolver } from '../context.ts';
import { formatDuration, MAX_WINDOW_MS, toMs } from '../duration.ts';
import { checkPartitions, partitionName } from '../identity/partition.ts';
import { checkInteger, checkOneOf, checkOptions, invalid } from '../options.ts';
import type { Limit, LimitOptions, QuotaRule } from './policy.ts';

const LIMIT_OPTIONS = ['name', 'per', 'algorithm', 'limit', 'window', 'burst', 'shape', 'block', 'cost'];
/** The longest integer of a structured field (RFC 9651 §3.3.1) has 15 digits. */
export const MAX_UNITS = 999_999_999_999_999;
const MAX_DELAY_MS = 60_000;

/** What a limit takes from its policy. */
interface PolicyPart<R> {
  readonly name: string;
  readonly cost: number | Resolver<R, number>;
  readonly share: number;
  /** Whether the policy has no other limit. */
  readonly alone: boolean;
}

/** Checks a limit and prepares what a request only has to read. @throws ConfigError */
export function prepareLimit<R>(at: string, options: LimitOptions<R>, policy: PolicyPart<R>): Limit<R> {
  checkOptions(at, options, LIMIT_OPTIONS);
  const { per = 'identity', algorithm = 'sliding-window', limit, window, block, cost = policy.cost } = options;
  checkOneOf(`${at}.algorithm`, algorithm, ALGORITHM_NAMES);
  const windowMs = toMs(`${at}.window`, window, 1, MAX_WINDOW_MS);
  const maxDelayMs = checkShape(at, options, algorithm);
  checkInteger(`${at}.limit`, limit, 0, maxLimit(algorithm, Math.max(windowMs, maxDelayMs ?? 0)));
  const parts = checkPartitions<R>(`${at}.per`, per);
  const { name: named = `${parts.map(partitionName).join('-')}-${formatDuration(windowMs)}` } = options;
  if (typeof named !== 'string' || !/^[\w-]{1,64}$/.test(named))
    invalid(`${at}.name`, '1 to 64 letters, digits, _ or -', named);
  const burst = checkBurst(at, options, { algorithm, limit, windowMs, maxDelayMs, cost });
  // A constant cost that can never pass is a mistake; with `limit: 0` denying everything is the point.
  const costOption = options.cost === undefined ? 'policy.cost' : `${at}.cost`;
  if (typeof cost !== 'function') checkInteger(costOption, cost, 0, limit === 0 ? MAX_UNITS : burst);
  const rule: QuotaRule = {
    algorithm,
    limit,
    windowMs,
    burst,
    maxDelayMs,
    blockMs: block === undefined ? 0 : toMs(`${at}.block`, block, 1, MAX_WINDOW_MS),
    path: pathOf(policy.name, named, algorithm, windowMs),
    name: policy.alone ? policy.name : `${policy.name}-${named}`,
    disclosed: !parts.includes('global'),
  };
  const localRule = toLocal(rule, cost, policy.share);
  return {
    name: named,
    per: parts,
    rule,
    localRule,
    cost,
    wholeCost: Math.max(1, burst),
    ownCost: options.cost !== undefined,
    strict: undefined,
    backstopOf: undefined,
  };
}

function checkShape<R>(at: string, { shape }: LimitOptions<R>, algorithm: AlgorithmName): number | undefined {
  if (shape === undefined) return undefined;
  if (algorithm !== 'leaky-bucket') invalid(`${at}.shape`, `left out for ${algorithm}`, shape);
  checkOptions(`${at}.shape`, shape, ['maxDelay']);
  return toMs(`${at}.shape.maxDelay`, shape.maxDelay, 0, MAX_DELAY_MS);
}

interface BurstPart {
  readonly algorithm: AlgorithmName;
  readonly limit: number;
  readonly windowMs: number;
  readonly maxDelayMs: number | undefined;
  readonly cost: unknown;
}

/** The most units at once: of a window its limit, of a bucket what its options say. */
function checkBurst<R>(at: string, { burst }: LimitOptions<R>, part: BurstPart): number {
  const { algorithm, limit, windowMs, maxDelayMs, cost } = part;
  if (algorithm !== 'token-bucket' && algorithm !== 'leaky-bucket') {
    return burst === undefined ? limit : invalid(`${at}.burst`, `left out for ${algorithm}`, burst);
  }
  if (burst !== undefined) return checkInteger(`${at}.burst`, burst, 1, maxUnits(windowMs));
  if (algorithm === 'token-bucket') return limit;
  // So that with shaping it is maxDelay that decides, and not the queue: what may be before a request, and the request.
  const before = maxDelayMs === undefined ? 0 : Math.ceil((maxDelayMs * limit) / windowMs);
  return Math.min(maxUnits(windowMs), before + (typeof cost === 'number' && cost >= 1 && cost <= limit ? cost : 1));
}

/** At least 1 and at least the constant cost, or an outage would deny what the policy always lets pass; 0 stays 0. */
function toLocal<R>(rule: QuotaRule, cost: number | Resolver<R, number>, share: number): QuotaRule {
  const shareOf = (units: number): number => {
    const least = Math.min(units, Math.max(1, typeof cost === 'number' ? cost : 1));
    return Math.max(least, Math.floor(units * share));
  };
  return { ...rule, limit: shareOf(rule.limit), burst: shareOf(rule.burst) };
}

/** The sibling of a limit that a client could widen by rotating its user agent, API key or address. */
export function toBackstop<R>(policy: string, limit: Limit<R>, factor: number, share: number): Limit<R> {
  const name = `${limit.name}~site`;
  const { algorithm, windowMs, limit: units, burst } = limit.rule;
  const rule: QuotaRule = {
    algorithm,
    windowMs,
    limit: Math.min(units * factor, maxLimit(algorithm, windowMs)),
    burst: Math.min(burst * factor, maxUnits(windowMs)),
    maxDelayMs: undefined,
    // A block is for the one who exceeded, not for everybody who shares the site.
    blockMs: 0,
    path: pathOf(policy, name, algorithm, windowMs),
    name: `${limit.rule.name}~site`,
    disclosed: false,
  };
  const per = [...new Set(limit.per.map((part) => (part === 'identity' || part === 'apiKey' ? 'site' : part)))];
  const backstopOf = limit.per.includes('apiKey') ? 'apiKey' : 'identity';
  const strictRule: QuotaRule = { ...rule, limit: units, burst };
  const localRule = toLocal(rule, limit.cost, share);
  const strict = { rule: strictRule, localRule: toLocal(strictRule, limit.cost, share) };
  return { ...limit, name, per, rule, localRule, strict, backstopOf };
}

function pathOf(policy: string, limit: string, algorithm: AlgorithmName, windowMs: number): string {
  // encodeURIComponent takes care of everything with a meaning in a key: colons, braces, spaces, percent signs.
  return `${encodeURIComponent(policy)}:${limit}:${ALGORITHMS[algorithm].code}${windowMs}`;
}

function maxLimit(algorithm: AlgorithmName, factorMs: number): number {
  return algorithm === 'sliding-log' ? MAX_LOG_LIMIT : maxUnits(factorMs);
}

/** The steps multiply units by milliseconds and must stay exact. */
function maxUnits(factorMs: number): number {
  return Math.min(MAX_UNITS, Math.floor(Number.MAX_SAFE_INTEGER / factorMs));
}
