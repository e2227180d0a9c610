import { type Duration, toMs } from '../duration.ts';
import { checkOneOf, checkOptions, invalid } from '../options.ts';
import { checkDenialOptions, DENIAL_OPTIONS, type DenialOptions } from '../policy/denial.ts';

/**
 * A set of header fields that tell of quota. `ietf` is draft-ietf-httpapi-ratelimit-headers-08 to -11, `draft-7` and
 * `draft-6` are earlier revisions of it, `legacy` the customary `X-RateLimit-*`. docs/headers.md shows each.
 */
export type HeaderFamily = 'ietf' | 'draft-7' | 'draft-6' | 'legacy';

export interface ReplyOptions<R = unknown> extends DenialOptions<R> {
  /** One family or several; an empty array for none. Default `['ietf', 'draft-6', 'legacy']`. */
  readonly headers?: HeaderFamily | readonly HeaderFamily[];
  /**
   * The body of a denial: `json` (default), or `problem` for RFC 9457's `application/problem+json`. A client whose `Accept`
   * prefers problems gets one either way.
   */
  readonly body?: 'json' | 'problem';
  /**
   * Adds `pk` to the `ietf` fields: which partition a quota is of, as a hash keyed by the limiter's `pepper`, which is
   * required then (an unkeyed hash of an address can be reversed by trial). Default false.
   */
  readonly partitionKey?: boolean;
  /** Up to this much, at random, is added to `Retry-After`, so that denied clients do not come back together; 0 ms to 10 minutes. Default 0. */
  readonly jitter?: Duration;
  /** Lists the fields in `Access-Control-Expose-Headers` for requests with an `Origin`, so that scripts of other origins can read them. Default false. */
  readonly exposeHeaders?: boolean;
}

/** How replies are made, checked. */
export interface ReplyParts extends DenialOptions<never> {
  readonly families: ReadonlySet<HeaderFamily>;
  readonly body: 'json' | 'problem';
  readonly partitionKey: boolean;
  readonly jitterMs: number;
  readonly exposeHeaders: boolean;
}

const AT = 'limiter.reply';
const FAMILIES = ['ietf', 'draft-7', 'draft-6', 'legacy'] as const;
const DEFAULT_FAMILIES: readonly HeaderFamily[] = ['ietf', 'draft-6', 'legacy'];
const OPTIONS = ['headers', 'body', 'partitionKey', 'jitter', 'exposeHeaders', ...DENIAL_OPTIONS];
const MAX_JITTER_MS = 600_000;

/** @throws ConfigError when an option is unknown or out of range */
export function checkReplyOptions<R>(options: ReplyOptions<R>, pepper: string | undefined): ReplyParts {
  checkOptions(AT, options, OPTIONS);
  checkDenialOptions(AT, options);
  const { headers = DEFAULT_FAMILIES, body = 'json', jitter = 0, message, status, handler } = options;
  const partitionKey = checkFlag('partitionKey', options.partitionKey);
  const exposeHeaders = checkFlag('exposeHeaders', options.exposeHeaders);
  const families = checkFamilies(headers);
  checkOneOf(`${AT}.body`, body, ['json', 'problem']);
  if (partitionKey && pepper === undefined) {
    invalid(`${AT}.partitionKey`, 'false where the limiter has no pepper to key its hash with', partitionKey);
  }
  if (partitionKey && !families.has('ietf')) {
    invalid(
      `${AT}.partitionKey`,
      "false where headers do not include 'ietf', the only family that has it",
      partitionKey,
    );
  }
  return {
    families,
    body,
    partitionKey,
    exposeHeaders,
    jitterMs: toMs(`${AT}.jitter`, jitter, 0, MAX_JITTER_MS),
    ...(message !== undefined && { message }),
    ...(status !== undefined && { status }),
    ...(handler !== undefined && { handler }),
  };
}

function checkFamilies(headers: unknown): ReadonlySet<HeaderFamily> {
  // Spread, because map would jump over a hole.
  const list: readonly unknown[] = Array.isArray(headers) ? [...(headers as unknown[])] : [headers];
  const families = new Set(list.map((family) => checkOneOf(`${AT}.headers`, family as HeaderFamily, FAMILIES)));
  if (families.has('ietf') && families.has('draft-7')) {
    invalid(`${AT}.headers`, "without 'draft-7' beside 'ietf': both write RateLimit, each in its own syntax", 'both');
  }
  return families;
}

function checkFlag(name: string, value: unknown): boolean {
  if (value !== undefined && typeof value !== 'boolean') invalid(`${AT}.${name}`, 'true or false', value);
  return value === true;
}
