import { checkOptions } from '../options.ts';
import { definePolicy } from './define-policy.ts';
import type { LimitOptions, Policy, PolicyOptions } from './policy.ts';

/** What can be changed of a preset with one limit: that limit's numbers, and everything about the policy but its limits. */
export interface ReadOptions<R = unknown>
  extends Partial<Omit<PolicyOptions<R>, 'limits'>>, Partial<Pick<LimitOptions<R>, 'limit' | 'window' | 'per'>> {}

const READ_OPTIONS = ['name', 'limit', 'window', 'per', 'cost', 'onStoreFailure', 'disclose', 'skip', 'backstop'];

/**
 * Ordinary API traffic: a sliding window of 1000 requests per minute for each caller.
 * @example app.use(rateLimit(read()))
 * @throws ConfigError when an option is unknown or out of range
 */
export function read<R = unknown>(options: ReadOptions<R> = {}): Policy<R> {
  checkOptions('read', options, READ_OPTIONS);
  const { limit = 1000, window = '1m', per = 'identity', name = 'read', ...policy } = options;
  return definePolicy({ ...policy, name, limits: [{ limit, window, per }] });
}
