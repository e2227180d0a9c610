import type { Resolver } from '../context.ts';
import { username, type UsernameOptions } from '../identity/username.ts';
import { checkFunction, checkOptions, invalid } from '../options.ts';
import { definePolicy, POLICY_OPTIONS } from './define-policy.ts';
import type { LimitOptions, Policy, PolicyOptions, ResponseTest } from './policy.ts';

/** What can be changed of a preset's policy: everything but its limits. */
type PresetOptions<R> = Partial<Omit<PolicyOptions<R>, 'limits'>>;

/** What can be changed of a preset with one limit: that limit's numbers, and everything about the policy but its limits. */
export interface ReadOptions<R = unknown>
  extends PresetOptions<R>, Partial<Pick<LimitOptions<R>, 'limit' | 'window' | 'per'>> {}

export interface ExpensiveOptions<R = unknown> extends ReadOptions<R>, Pick<LimitOptions<R>, 'burst'> {}

export interface AuthOptions<R = unknown> extends Omit<PresetOptions<R>, 'cost' | 'refundWhen'>, UsernameOptions {
  /** The name that somebody tries to log in as; usually in the parsed body. */
  readonly username: Resolver<R, unknown>;
  /**
   * Whether the log-in worked; it then forgets the attempts of this address on this name, and no others. No default: a form
   * that redirects answers 302 to both.
   */
  readonly success?: ResponseTest<R>;
}

const PRESET_OPTIONS = POLICY_OPTIONS.filter((name) => name !== 'limits');
const READ_OPTIONS = [...PRESET_OPTIONS, 'limit', 'window', 'per'];
const EXPENSIVE_OPTIONS = [...READ_OPTIONS, 'burst'];
const NOT_OF_AUTH = new Set(['cost', 'refundWhen']);
const AUTH_OPTIONS = [...PRESET_OPTIONS.filter((name) => !NOT_OF_AUTH.has(name)), 'username', 'success', 'normalize'];

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
  return definePolicy({ ...policy, name, cost, limits: [bucket] });
}

/**
 * Logins and everything else where a secret can be guessed. Each attempt counts, and is decided together: per address and
 * name 5 a minute (one client guesses one password), per address 20 a minute (it tries many names), per name 10 a minute
 * and 100 a day (many addresses try one name); exactly so in any span of that length. The answer tells when to come back,
 * and nothing about the name.
 * @example app.post('/login', express.json(), rateLimit(auth({ username: (req) => req.body?.email })), login)
 * @throws ConfigError when an option is missing, unknown or out of range
 */
export function auth<R = unknown>(options: AuthOptions<R>): Policy<R> {
  checkOptions('auth', options, AUTH_OPTIONS);
  const { username: resolve, success, normalize, name = 'auth', disclose = 'retry-after', ...policy } = options;
  if (typeof resolve !== 'function') invalid('auth.username', 'a function that tells the name', resolve);
  checkFunction('auth.success', success);
  const account = username(resolve, normalize === undefined ? {} : { normalize });
  const resetWhen = success === undefined ? {} : { resetWhen: success };
  return definePolicy({
    ...policy,
    name,
    disclose,
    // Logs, because a window would let nearly twice as many guesses pass around its edge.
    limits: [
      { algorithm: 'sliding-log', per: ['ip', account], limit: 5, window: '1m', ...resetWhen },
      { algorithm: 'sliding-log', per: 'ip', limit: 20, window: '1m' },
      { algorithm: 'sliding-log', per: account, limit: 10, window: '1m' },
      { algorithm: 'sliding-log', per: account, limit: 100, window: '1d' },
    ],
  });
}
