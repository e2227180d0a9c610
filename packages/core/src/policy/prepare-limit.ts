import { ALGORITHM_NAMES } from '../algorithms/algorithms.ts';
import type { AlgorithmName } from '../algorithms/algorithm.ts';
import type { Resolver } from '../context.ts';
import { formatDuration, MAX_WINDOW_MS, toMs } from '../duration.ts';
import { memoize } from '../identity/memoize.ts';
import { checkPartitions, partitionName } from '../identity/partition.ts';
import { checkFunction, checkInteger, checkOneOf, checkOptions, invalid } from '../options.ts';
import type { Limit, LimitOptions, LimitRules } from './policy.ts';
import { MAX_UNITS, maxLimit, maxUnits, pathOf, type RuleFrame, toRules } from './rules.ts';
import { byTier, checkTiers, isTiers, lowestOf } from './tiers.ts';

const LIMIT_OPTIONS = [
  'name',
  'per',
  'algorithm',
  'limit',
  'window',
  'burst',
  'shape',
  'block',
  'cost',
  'when',
  'resetWhen',
];
const MAX_DELAY_MS = 60_000;
/** How many numbers of one limit are kept prepared. */
const MAX_NUMBERS = 1000;

/** What a limit takes from its policy. */
interface PolicyPart<R> {
  /** What its cost is called in errors. */
  readonly costAt: string;
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
  checkFunction(`${at}.when`, options.when);
  checkFunction(`${at}.resetWhen`, options.resetWhen);
  const maxDelayMs = checkShape(at, options, algorithm);
  const most = maxLimit(algorithm, Math.max(windowMs, maxDelayMs ?? 0));
  const numbers = checkLimit(`${at}.limit`, limit, most);
  const parts = checkPartitions<R>(`${at}.per`, per);
  const { name: named = `${parts.map(partitionName).join('-')}-${formatDuration(windowMs)}` } = options;
  if (typeof named !== 'string' || !/^[\w-]{1,64}$/.test(named)) {
    invalid(`${at}.name`, '1 to 64 letters, digits, _ or -', named);
  }
  const frame: RuleFrame = {
    algorithm,
    windowMs,
    burst: checkBurst(at, options, algorithm, windowMs),
    maxDelayMs,
    isShaping: maxDelayMs !== undefined,
    blockMs: block === undefined ? 0 : toMs(`${at}.block`, block, 1, MAX_WINDOW_MS),
    cost: typeof cost === 'number' && cost <= maxUnits(windowMs) ? cost : 1,
    share: policy.share,
    factor: 1,
    path: pathOf(policy.name, named, algorithm, windowMs),
    name: policy.alone ? policy.name : `${policy.name}-${named}`,
    disclosed: !parts.includes('global'),
  };
  const first = toRules(frame, numbers[0] ?? 0);
  if (typeof cost !== 'function') {
    // A constant cost that can never pass is a mistake; with `limit: 0` denying everything is the point.
    const fits = numbers.length === 0 || numbers[0] === 0 ? MAX_UNITS : first.rule.burst;
    checkInteger(options.cost === undefined ? policy.costAt : `${at}.cost`, cost, 0, fits);
  }
  return {
    name: named,
    per: parts,
    // A copy: what was checked is what counts, whatever becomes of the application's object.
    limit: isTiers(limit) ? byTier(limit.tiers) : limit,
    most,
    frame,
    ...first,
    rulesOf: rulesOf(frame, typeof limit === 'number' ? first : undefined),
    cost,
    when: options.when,
    resetWhen: options.resetWhen,
    ownCost: options.cost !== undefined,
    backstopOf: undefined,
  };
}

/** Prepared once for each number that comes up. */
export function rulesOf(frame: RuleFrame, only: LimitRules | undefined): (limit: number) => LimitRules {
  if (only !== undefined) return () => only;
  const made = memoize((limit) => toRules(frame, Number(limit)), MAX_NUMBERS);
  return (limit) => made(String(limit));
}

/** The numbers that a limit can have, the lowest first; none where a function says. */
function checkLimit(option: string, limit: unknown, most: number): readonly number[] {
  if (typeof limit === 'function') return [];
  if (!isTiers(limit)) return [checkInteger(option, limit, 0, most)];
  checkTiers(option, limit.tiers, most);
  return [lowestOf(limit)];
}

function checkShape<R>(at: string, { shape }: LimitOptions<R>, algorithm: AlgorithmName): number | undefined {
  if (shape === undefined) return undefined;
  if (algorithm !== 'leaky-bucket') invalid(`${at}.shape`, `left out for ${algorithm}`, shape);
  checkOptions(`${at}.shape`, shape, ['maxDelay']);
  return toMs(`${at}.shape.maxDelay`, shape.maxDelay, 0, MAX_DELAY_MS);
}

function checkBurst<R>(
  at: string,
  { burst }: LimitOptions<R>,
  algorithm: AlgorithmName,
  windowMs: number,
): number | undefined {
  if (burst === undefined) return undefined;
  if (algorithm !== 'token-bucket' && algorithm !== 'leaky-bucket')
    invalid(`${at}.burst`, `left out for ${algorithm}`, burst);
  return checkInteger(`${at}.burst`, burst, 1, maxUnits(windowMs));
}
