import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { type Duration, toMs } from '../duration.ts';
import { checkFunction, checkOptions, invalid, secretAs } from '../options.ts';
import { textOf, normalizeUsername, type UsernameOptions } from './username.ts';

export interface DeviceTokensOptions extends UsernameOptions {
  /**
   * At least 32 characters, from a generator and of no other use. An array of these for a change of secret: the first one
   * signs, all of them verify. `undefined`, as of an unset variable of the environment, is refused when it is made.
   */
  readonly secret: string | readonly string[] | undefined;
  /** How long a device stays known after a login, 1 ms to 3650 days; default 365 days. */
  readonly maxAge?: Duration;
}

/** Tokens that say: the owner of this name has logged in on this device. */
export interface DeviceTokens {
  /**
   * A new token for the device on which the owner of this name has just logged in: about 110 characters that a cookie may
   * hold as they are, and that do not tell the name. @throws TypeError when nothing is left of the name
   */
  issue(name: string): string;
  /** The id of the device, if this is a token of this name that is still good; undefined for everything else. Never throws. */
  verify(token: unknown, name: unknown): string | undefined;
}

const MIN_SECRET = 32;
const DAY_MS = 86_400_000;
const MAX_AGE_MS = 3650 * DAY_MS;
/** Instances of a service do not agree on the time to the millisecond. */
const MAX_SKEW_MS = 60_000;
/** Version, 128 random bits, time of issue, signature. One spelling for each token: hex has no spare bits. */
const TOKEN = /^(v1\.([0-9a-f]{32})\.([0-9a-z]{1,9}))\.([0-9a-f]{64})$/;

/**
 * Signs and verifies what a device is known by (HMAC-SHA-256), for the `trustedDevice` of `auth`. docs/policies/auth.md has
 * the whole example.
 * @example const devices = deviceTokens({ secret: process.env.DEVICE_SECRET })
 * @throws ConfigError when an option is missing, unknown or out of range
 */
export function deviceTokens(options: DeviceTokensOptions): DeviceTokens {
  checkOptions('deviceTokens', options, ['secret', 'maxAge', 'normalize']);
  const { secret, maxAge = 365 * DAY_MS, normalize = normalizeUsername } = options;
  const keys = checkSecrets(secret).map(utf8ToBytes);
  const maxAgeMs = toMs('deviceTokens.maxAge', maxAge, 1, MAX_AGE_MS);
  checkFunction('deviceTokens.normalize', options.normalize);

  return {
    issue(name) {
      const owner = ownerOf(name);
      if (owner === undefined) throw new TypeError('deviceTokens.issue needs the name of the account.');
      const nonce = bytesToHex(crypto.getRandomValues(new Uint8Array(16)));
      const head = `v1.${nonce}.${Date.now().toString(36)}`;
      return `${head}.${sign(keys[0] as Uint8Array, head, owner)}`;
    },
    verify(token, name) {
      const [, head = '', id = '', issued = '', signature = ''] =
        (typeof token === 'string' && TOKEN.exec(token)) || [];
      if (head === '') return undefined;
      const ageMs = Date.now() - Number.parseInt(issued, 36);
      if (ageMs >= maxAgeMs || ageMs < -MAX_SKEW_MS) return undefined;
      const owner = attempt(() => ownerOf(name));
      if (owner === undefined) return undefined;
      // All keys, whichever fits: how long it takes must not tell.
      const fits = keys.filter((key) => isSame(sign(key, head, owner), signature));
      return fits.length === 0 ? undefined : id;
    },
  };

  /** The name as the limiter counts it. */
  function ownerOf(name: unknown): string | undefined {
    const text = textOf(name);
    const owner: unknown = text === undefined ? undefined : normalize(text);
    return typeof owner === 'string' && owner !== '' ? owner : undefined;
  }
}

/** The label keeps apart what else may be signed by this secret; the name is last, so that nothing follows what a client chose. */
function sign(key: Uint8Array, head: string, owner: string): string {
  return bytesToHex(hmac(sha256, key, utf8ToBytes(`tollgate device ${head} ${owner}`)));
}

function checkSecrets(secret: unknown): readonly string[] {
  const secrets: readonly unknown[] = Array.isArray(secret) ? secret : [secret];
  const rule = `a string of at least ${MIN_SECRET} characters, or a non-empty array of these`;
  if (secrets.length === 0) invalid('deviceTokens.secret', rule, secret);
  const wrong = secrets.findIndex((one) => typeof one !== 'string' || one.length < MIN_SECRET);
  if (wrong === -1) return secrets as readonly string[];
  const option = Array.isArray(secret) ? `deviceTokens.secret[${wrong}]` : 'deviceTokens.secret';
  return invalid(option, rule, secretAs(secrets[wrong]));
}

/** Of texts of one length, in a time that does not tell how much of them is the same. */
function isSame(one: string, other: string): boolean {
  let difference = 0;
  for (let i = 0; i < one.length; i++) difference |= one.charCodeAt(i) ^ other.charCodeAt(i);
  return difference === 0;
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
