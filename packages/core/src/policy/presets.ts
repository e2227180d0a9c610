import { checkOptions } from '../options.ts';
import { POLICY_OPTIONS, preparePolicy } from './define-policy.ts';
import type { LimitOptions, Policy, PolicyOptions } from './policy.ts';

/** What can be changed of a preset's policy: everything but its limits. */
export type PresetOptions<R> = Partial<Omit<PolicyOptions<R>, 'limits'>>;

/** What can be changed of a preset with one limit: that limit's numbers, and everything about the policy but its limits. */
export interface ReadOptions<R = unknown>
  extends PresetOptions<R>, Partial<Pick<LimitOptions<R>, 'limit' | 'window' | 'per'>> {}

export interface ExpensiveOptions<R = unknown> extends ReadOptions<R>, Pick<LimitOptions<R>, 'burst'> {}

export const PRESET_OPTIONS: readonly string[] = POLICY_OPTIONS.filter((name) => name !== 'limits');
const READ_OPTIONS = [...PRESET_OPTIONS, 'limit', 'window', 'per'];
const EXPENSIVE_OPTIONS = [...READ_OPTIONS, 'burst'];

/**
 * Ordinary API traffic: a sliding window of 1000 requests per minute for each caller.
 * @example app.use(rateLimit(read()))
 * @throws ConfigError when an option is unknown or out of range
 */
export function read<R = unknown>(options: ReadOptions<R> = {}): Policy<R> {
  checkOptions('read', options, READ_OPTIONS);
  const { limit = 1000, window = '1m', per = 'identity', name = 'read', ...policy } = options;
  return preparePolicy({ ...policy, name, limits: [{ limit, window, per }] }, 'read', () => 'read');
}

/**
 * What costs money or minutes of a processor: a token bucket of 60 units per minute for each caller, 60 at once, and a
 * cost of 10 units.
 * @example app.post('/search', rateLimit(expensive({ cost: (req) => req.body.pages })), search)
 * @throws ConfigError when an option is unknown or out of range
 */
export function expensive<R = unknown>(options: ExpensiveOptions<R> = {}): Policy<R> {
  checkOptions('expensive', options, EXPENSIVE_OPTIONS);
  const { limit = 60, window = '1m', per = 'identity', burst, name = 'expensive', cost = 10, ...policy } = options;
  const bucket: LimitOptions<R> = {
    algorithm: 'token-bucket',
    limit,
    window,
    per,
    ...(burst !== undefined && { burst }),
  };
  return preparePolicy({ ...policy, name, cost, limits: [bucket] }, 'expensive', () => 'expensive');
}
