import type { Resolver } from '../context.ts';
import type { CustomPartition } from '../identity/partition.ts';
import { username, type UsernameOptions } from '../identity/username.ts';
import { checkFunction, checkOptions, invalid } from '../options.ts';
import { preparePolicy } from './define-policy.ts';
import type { LimitOptions, Policy, ResponseTest } from './policy.ts';
import { PRESET_OPTIONS, type PresetOptions } from './presets.ts';
import { createDevices, type Devices } from './trusted-device.ts';

export interface AuthOptions<R = unknown> extends Omit<PresetOptions<R>, 'cost' | 'refundWhen'>, UsernameOptions {
  /** The name that somebody tries to log in as; usually in the parsed body. */
  readonly username: Resolver<R, unknown>;
  /**
   * Whether the log-in worked; it then forgets the attempts of this address on this name, and no others. No default: a form
   * that redirects answers 302 to both.
   */
  readonly success?: ResponseTest<R>;
  /**
   * The id of a device on which the owner of this very name has logged in before, verified by your application (a signed
   * cookie, see `deviceTokens`); undefined for everybody else. It is asked once per request, and only about a request with
   * a name. A known device is limited on its own, 5 attempts a minute and 100 a day on its name, so that strangers cannot
   * lock the owner out. An error or anything but a string makes a stranger. Only hashes of ids are stored.
   */
  readonly trustedDevice?: Resolver<R, string | undefined>;
}

const NOT_OF_AUTH = new Set(['cost', 'refundWhen']);
const AUTH_OPTIONS = [
  ...PRESET_OPTIONS.filter((name) => !NOT_OF_AUTH.has(name)),
  'username',
  'success',
  'trustedDevice',
  'normalize',
];

/**
 * Logins and everything else where a secret can be guessed. Each attempt counts, and is decided together: per address and
 * name 5 a minute (one client guesses one password), per address 20 a minute (it tries many names), per name 10 a minute
 * and 100 a day (many addresses try one name); exactly so in any span of that length. The answer tells when to come back,
 * and nothing about the name. docs/policies/auth.md tells what this stops, and what it does not.
 * @example app.post('/login', express.json(), rateLimit(auth({ username: (req) => req.body?.email })), login)
 * @throws ConfigError when an option is missing, unknown or out of range
 */
export function auth<R = unknown>(options: AuthOptions<R>): Policy<R> {
  checkOptions('auth', options, AUTH_OPTIONS);
  const {
    username: resolve,
    success,
    trustedDevice,
    normalize,
    name = 'auth',
    disclose = 'retry-after',
    ...policy
  } = options;
  if (typeof resolve !== 'function') invalid('auth.username', 'a function that tells the name', resolve);
  checkFunction('auth.success', success);
  checkFunction('auth.trustedDevice', trustedDevice);
  checkFunction('auth.normalize', normalize);
  const account = username(resolve, normalize === undefined ? {} : { normalize });
  const limits =
    trustedDevice === undefined
      ? limitsOfAll({ algorithm }, account, success)
      : limitsByDevice(createDevices(account, trustedDevice), success);
  return preparePolicy({ ...policy, name, disclose, limits }, 'auth');
}

/** Logs, because a window would let nearly twice as many guesses pass around its edge. */
const algorithm = 'sliding-log';

function limitsOfAll<R>(
  shared: Pick<LimitOptions<R>, 'algorithm' | 'when'>,
  account: CustomPartition<R>,
  success: ResponseTest<R> | undefined,
): LimitOptions<R>[] {
  const resetWhen = success === undefined ? {} : { resetWhen: success };
  return [
    { ...shared, per: ['ip', account], limit: 5, window: '1m', ...resetWhen },
    { ...shared, per: 'ip', limit: 20, window: '1m' },
    { ...shared, per: account, limit: 10, window: '1m' },
    { ...shared, per: account, limit: 100, window: '1d' },
  ];
}

/** Who tries a name often enough locks its owner out, but not on a device that knows the name: it is counted on its own. */
function limitsByDevice<R>(
  { account, device, isStranger, isKnown }: Devices<R>,
  success: ResponseTest<R> | undefined,
): LimitOptions<R>[] {
  const per = [device, account];
  return [
    ...limitsOfAll({ algorithm, when: isStranger }, account, success),
    { algorithm, per, limit: 5, window: '1m', when: isKnown },
    { algorithm, per, limit: 100, window: '1d', when: isKnown },
  ];
}
