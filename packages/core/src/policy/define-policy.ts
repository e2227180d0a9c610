import type { AlgorithmName } from '../algorithms/algorithm.ts';
import { ALGORITHM_NAMES, ALGORITHMS } from '../algorithms/algorithms.ts';
import { MAX_WINDOW_MS, toMs } from '../duration.ts';
import { checkFunction, checkInteger, checkOneOf, checkOptions, invalid } from '../options.ts';
import { checkPartitions, partitionName } from '../identity/partition.ts';
import type { Resolver } from '../context.ts';
import type { Limit, LimitOptions, Policy, PolicyOptions, QuotaRule } from './policy.ts';

const POLICY_OPTIONS = ['name', 'limits', 'cost', 'onStoreFailure', 'disclose', 'skip', 'backstop'];
const LIMIT_OPTIONS = ['name', 'per', 'algorithm', 'limit', 'window', 'cost'];
const DEFAULT_SHARE = 0.25;
/** The longest integer of a structured field (RFC 9651 §3.3.1) has 15 digits. */
const MAX_UNITS = 999_999_999_999_999;

/**
 * Checks every number of a policy and prepares what a request only has to read.
 * @throws ConfigError naming the option, its rule and the value received.
 */
export function definePolicy<R = unknown>(options: PolicyOptions<R>): Policy<R> {
  checkOptions('policy', options, POLICY_OPTIONS);
  const { name, limits, cost = 1, onStoreFailure = 'local', disclose = 'full', skip, backstop = 10 } = options;
  // A character outside of printable ASCII could break out of a header, or make the whole field invalid.
  if (typeof name !== 'string' || !/^[\x20-\x7E]{1,64}$/.test(name)) {
    invalid('policy.name', '1 to 64 printable ASCII characters', name);
  }
  if (!Array.isArray(limits) || limits.length === 0) invalid('policy.limits', 'a non-empty array', limits);
  checkOneOf('policy.disclose', disclose, ['full', 'retry-after', 'none']);
  checkFunction('policy.skip', skip);
  checkInteger('policy.backstop', backstop, 1, MAX_UNITS);
  const share = checkShare(onStoreFailure);

  const prepared: Limit<R>[] = [];
  for (const [i, limit] of (limits as readonly LimitOptions<R>[]).entries()) {
    prepared.push(prepareLimit(`policy.limits[${i}]`, limit, { name, cost, share, alone: limits.length === 1 }));
  }
  const names = prepared.map((limit) => limit.name);
  const twice = names.find((one, i) => names.indexOf(one) !== i);
  if (twice !== undefined) invalid('policy.limits', 'limits of distinct names', twice);
  if (!prepared.some(({ per }) => per.length === 1 && per[0] === 'ip')) {
    const controlled = prepared.filter(({ per }) => per.includes('identity') || per.includes('apiKey'));
    prepared.push(...controlled.map((limit) => toBackstop(name, limit, backstop, share)));
  }
  return {
    name,
    limits: prepared,
    onStoreFailure: typeof onStoreFailure === 'object' ? 'local' : onStoreFailure,
    disclose,
    skip,
    shape: prepared
      .map(({ per, rule }) => `${rule.path}=${rule.limit} per ${per.map(partitionName).join('+')}`)
      .join('; '),
  };
}

interface PolicyPart<R> {
  name: string;
  cost: number | Resolver<R, number>;
  share: number;
  alone: boolean;
}

function prepareLimit<R>(at: string, options: LimitOptions<R>, policy: PolicyPart<R>): Limit<R> {
  checkOptions(at, options, LIMIT_OPTIONS);
  const { per = 'identity', algorithm = 'sliding-window', limit, window, cost = policy.cost } = options;
  checkOneOf(`${at}.algorithm`, algorithm, ALGORITHM_NAMES);
  const windowMs = toMs(`${at}.window`, window, 1, MAX_WINDOW_MS);
  checkInteger(`${at}.limit`, limit, 0, maxUnits(windowMs));
  const parts = checkPartitions<R>(`${at}.per`, per);
  const { name = `${parts.map(partitionName).join('-')}-${typeof window === 'string' ? window : `${window}ms`}` } =
    options;
  if (typeof name !== 'string' || !/^[\w-]{1,64}$/.test(name))
    invalid(`${at}.name`, '1 to 64 letters, digits, _ or -', name);
  if (typeof cost !== 'function') checkCost(options.cost === undefined ? 'policy.cost' : `${at}.cost`, cost, limit);
  const rule: QuotaRule = {
    algorithm,
    limit,
    windowMs,
    path: pathOf(policy.name, name, algorithm, windowMs),
    name: policy.alone ? policy.name : `${policy.name}-${name}`,
    disclosed: !parts.includes('global'),
  };
  return { name, per: parts, rule, localRule: toLocal(rule, cost, policy.share), cost, backstopOf: undefined };
}

/** A constant cost that can never pass is a mistake; with `limit: 0` denying everything is the point. */
function checkCost(option: string, cost: unknown, limit: number): void {
  checkInteger(option, cost, 0, limit === 0 ? MAX_UNITS : limit);
}

function checkShare(mode: unknown): number {
  if (typeof mode === 'object' && mode !== null) {
    checkOptions('policy.onStoreFailure', mode, ['local']);
    const { local } = mode as { local: unknown };
    if (typeof local === 'number' && local > 0 && local <= 1) return local;
    return invalid('policy.onStoreFailure.local', 'a share above 0, up to 1', local);
  }
  checkOneOf('policy.onStoreFailure', mode, ['local', 'open', 'closed']);
  return DEFAULT_SHARE;
}

/** At least 1 and at least the constant cost, or an outage would deny what the policy always lets pass; 0 stays 0. */
function toLocal<R>(rule: QuotaRule, cost: number | Resolver<R, number>, share: number): QuotaRule {
  const least = Math.min(rule.limit, Math.max(1, typeof cost === 'number' ? cost : 1));
  return { ...rule, limit: Math.max(least, Math.floor(rule.limit * share)) };
}

/** The sibling of a limit that a client could widen by rotating its user agent, API key or address. */
function toBackstop<R>(policy: string, limit: Limit<R>, factor: number, share: number): Limit<R> {
  const name = `${limit.name}~site`;
  const { algorithm, windowMs } = limit.rule;
  const rule: QuotaRule = {
    algorithm,
    windowMs,
    limit: Math.min(limit.rule.limit * factor, maxUnits(windowMs)),
    path: pathOf(policy, name, algorithm, windowMs),
    name: `${limit.rule.name}~site`,
    disclosed: false,
  };
  const per = [...new Set(limit.per.map((part) => (part === 'identity' || part === 'apiKey' ? 'site' : part)))];
  return {
    ...limit,
    name,
    per,
    rule,
    localRule: toLocal(rule, limit.cost, share),
    backstopOf: limit.per.includes('apiKey') ? 'apiKey' : 'identity',
  };
}

function pathOf(policy: string, limit: string, algorithm: AlgorithmName, windowMs: number): string {
  // encodeURIComponent takes care of everything with a meaning in a key: colons, braces, spaces, percent signs.
  return `${encodeURIComponent(policy)}:${limit}:${ALGORITHMS[algorithm].code}${windowMs}`;
}

/** The steps multiply units by milliseconds and must stay exact. */
function maxUnits(windowMs: number): number {
  return Math.min(MAX_UNITS, Math.floor(Number.MAX_SAFE_INTEGER / windowMs));
}
