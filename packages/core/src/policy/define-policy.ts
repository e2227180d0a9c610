import type { Rule } from '../algorithms/algorithm.ts';
import { partitionName } from '../identity/partition.ts';
import { checkFunction, checkInteger, checkOneOf, checkOptions, invalid } from '../options.ts';
import { needsBackstop, toBackstop } from './backstop.ts';
import { checkDenialOptions, DENIAL_OPTIONS } from './denial.ts';
import { prepareLimit } from './prepare-limit.ts';
import { MAX_UNITS } from './rules.ts';
import type { Limit, LimitOptions, Policy, PolicyOptions } from './policy.ts';
import { isTiers } from './tiers.ts';

export const POLICY_OPTIONS: readonly string[] = [
  'name',
  'limits',
  'cost',
  'onStoreFailure',
  'disclose',
  'skip',
  'refundWhen',
  'mode',
  'backstop',
  ...DENIAL_OPTIONS,
];
const DEFAULT_SHARE = 0.25;
const MAX_LIMITS = 16;

/**
 * Checks every number of a policy and prepares what a request only has to read.
 * @throws ConfigError naming the option, its rule and the value received.
 */
export function definePolicy<R = unknown>(options: PolicyOptions<R>): Policy<R> {
  checkOptions('policy', options, POLICY_OPTIONS);
  return preparePolicy(options, 'policy');
}

/**
 * @param at how the options are called in errors: a preset's by its own name, as they were written
 * @param limitAt how those of a limit are
 * @throws ConfigError
 */
export function preparePolicy<R>(
  options: PolicyOptions<R>,
  at: string,
  limitAt: (i: number) => string = (i) => `${at}.limits[${i}]`,
): Policy<R> {
  const {
    name,
    limits,
    cost = 1,
    onStoreFailure = 'local',
    disclose = 'full',
    skip,
    refundWhen,
    mode = 'enforce',
    backstop = 10,
    message,
    status,
    handler,
  } = options;
  // A character outside of printable ASCII could break out of a header, or make the whole field invalid.
  if (typeof name !== 'string' || !/^[\x20-\x7E]{1,64}$/.test(name)) {
    invalid(`${at}.name`, '1 to 64 printable ASCII characters', name);
  }
  if (!Array.isArray(limits) || limits.length === 0) invalid(`${at}.limits`, 'a non-empty array', limits);
  // Each one is in the headers of every response, and clients refuse headers of more than 8 to 16 kB.
  if (limits.length > MAX_LIMITS)
    invalid(`${at}.limits`, `an array of at most ${MAX_LIMITS}`, `${limits.length} limits`);
  checkOneOf(`${at}.disclose`, disclose, ['full', 'retry-after', 'none']);
  checkFunction(`${at}.skip`, skip);
  checkFunction(`${at}.refundWhen`, refundWhen);
  checkOneOf(`${at}.mode`, mode, ['enforce', 'shadow']);
  checkInteger(`${at}.backstop`, backstop, 1, MAX_UNITS);
  checkDenialOptions(at, options);
  const share = checkShare(`${at}.onStoreFailure`, onStoreFailure);

  const prepared: Limit<R>[] = [];
  for (const [i, limit] of (limits as readonly LimitOptions<R>[]).entries()) {
    prepared.push(
      prepareLimit(limitAt(i), limit, { name, cost, costAt: `${at}.cost`, share, alone: limits.length === 1 }),
    );
  }
  // Where each limit has a cost of its own, none of them has looked at it.
  if (typeof cost !== 'function') checkInteger(`${at}.cost`, cost, 0, MAX_UNITS);
  const names = prepared.map((limit) => limit.name);
  const twice = names.find((one, i) => names.indexOf(one) !== i);
  if (twice !== undefined) invalid(`${at}.limits`, 'limits of distinct names', twice);
  checkShaping(prepared);
  const widened = prepared.filter((limit) => needsBackstop(limit, prepared, backstop));
  prepared.push(...widened.map((limit) => toBackstop(name, limit, backstop)));
  const policy = {
    name,
    limits: Object.freeze(prepared.map((limit) => Object.freeze(limit))),
    onStoreFailure: typeof onStoreFailure === 'object' ? 'local' : onStoreFailure,
    disclose,
    skip,
    refundWhen,
    mode,
    message,
    status,
    handler,
    countsUsers: prepared.some(countsUsers),
    asksRequest: prepared.some(asksRequest),
    early: undefined,
    shape: prepared
      .map(({ per, rule, limit }) => `${rule.path}=${numbersOf(rule, limit)} per ${per.map(partitionName).join('+')}`)
      .join('; '),
  };
  const early = Object.freeze({ ...policy, limits: Object.freeze(policy.limits.filter(isEarly)) });
  // Shared by all requests: nobody is to take a limit out of it by accident.
  return Object.freeze({ ...policy, early });
}

function countsUsers<R>({ per }: Limit<R>): boolean {
  return per.includes('identity') || per.includes('user');
}

function asksRequest<R>({ per, limit, cost, when }: Limit<R>): boolean {
  const asks = [limit, cost, when].some((source) => typeof source === 'function');
  return asks || per.some((part) => typeof part === 'object');
}

function isEarly<R>(limit: Limit<R>): boolean {
  const { backstopOf } = limit;
  const dependsOnUser =
    countsUsers(limit) || backstopOf === 'identity' || backstopOf === 'user' || isTiers(limit.limit);
  return !dependsOnUser && !asksRequest(limit);
}

/** Each would assume that a request starts at its own turn, and a request can only start once. */
export function checkShaping(limits: readonly Pick<Limit, 'rule'>[]): void {
  const shaping = limits.filter(({ rule }) => rule.maxDelayMs !== undefined).length;
  if (shaping > 1) invalid('policy.limits', 'limits of which at most one shapes', `${shaping} that do`);
}

function checkShare(option: string, mode: unknown): number {
  if (typeof mode === 'object' && mode !== null) {
    checkOptions(option, mode, ['local']);
    const { local } = mode as { local: unknown };
    if (typeof local === 'number' && local > 0 && local <= 1) return local;
    return invalid(`${option}.local`, 'a share above 0, up to 1', local);
  }
  checkOneOf(option, mode, ['local', 'open', 'closed']);
  return DEFAULT_SHARE;
}

/** The numbers of a limit that are not in its path: `5`, `60 burst 10`, `free 100 pro 1000`. */
function numbersOf({ limit, burst, maxDelayMs, blockMs }: Rule, source: Limit<never>['limit']): string {
  const units = isTiers(source)
    ? Object.entries(source.tiers).flat().join(' ')
    : typeof source === 'function'
      ? 'varying'
      : limit;
  const burstText = burst === limit ? '' : ` burst ${burst}`;
  const delayText = maxDelayMs === undefined ? '' : ` delay ${maxDelayMs}`;
  return `${units}${burstText}${delayText}${blockMs === 0 ? '' : ` block ${blockMs}`}`;
}
