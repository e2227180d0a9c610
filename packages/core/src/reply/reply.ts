import type { Verdict } from '../decision.ts';
import { type ExistingHeader, type Headers, SINGLE_VALUES, toQuotaHeaders, toSeconds } from './headers.ts';

/** The JSON body of a denial. */
export interface DenialBody {
  readonly error: 'rate_limit_exceeded' | 'rate_limit_unavailable';
  readonly message: string;
  /** Seconds; missing when the request can never pass. */
  readonly retry_after?: number;
}

/** Ready for an adapter to write. */
export interface Reply {
  /** Undefined when the request goes on. */
  readonly status: 429 | 499 | 503 | undefined;
  /** To be set: a value already holds what was there. */
  readonly headers: Headers;
  /** To be taken off the response: they would contradict the denial. */
  readonly remove: readonly string[];
  readonly body: DenialBody | undefined;
}

/** When nobody knows how long an outage lasts: soon, but not in step with the next request. */
const OUTAGE_RETRY_SECONDS = 5;

/**
 * Turns a decision into what the client is told.
 * @param existing reads a header that the response has already
 */
export function toReply(decision: Verdict, existing: ExistingHeader): Reply {
  // Nobody is there to read it; the status (nginx's "client closed request") is for logs.
  if (decision.cancelled) return { status: 499, headers: [], remove: [], body: undefined };
  if (decision.allowed) {
    // Where headers are written after the handler, a limiter further in may have denied.
    const denied = Number.parseInt(String(existing('Retry-After')), 10);
    const retryAfter = Number.isNaN(denied) ? undefined : denied;
    const headers = toQuotaHeaders(decision, existing, retryAfter, Date.now());
    return { status: undefined, headers, remove: [], body: undefined };
  }
  const retryAfter = retryAfterSeconds(decision);
  const headers = toQuotaHeaders(decision, existing, retryAfter ?? 0, Date.now());
  const remove = SINGLE_VALUES.filter((name) => headers.every(([written]) => written !== name));
  const tells = decision.policies.every(({ disclose }) => disclose !== 'none');
  if (retryAfter !== undefined && tells) headers.push(['Retry-After', String(retryAfter)]);
  // RFC 6585 §4: a 429 must not be stored by a cache.
  headers.push(['Cache-Control', 'no-store'], ['Content-Type', 'application/json']);
  const closed = decision.source === 'closed';
  return {
    status: closed ? 503 : 429,
    headers,
    remove,
    body: {
      error: closed ? 'rate_limit_unavailable' : 'rate_limit_exceeded',
      message: messageOf(closed, tells ? retryAfter : undefined),
      ...(retryAfter !== undefined && tells && { retry_after: retryAfter }),
    },
  };
}

/** At least 1: a client told 0 comes back at once, in a loop. Undefined when the request can never pass. */
function retryAfterSeconds({ retryAfterMs }: Verdict): number | undefined {
  if (retryAfterMs === undefined) return OUTAGE_RETRY_SECONDS;
  return retryAfterMs === Infinity ? undefined : Math.max(1, toSeconds(retryAfterMs));
}

function messageOf(closed: boolean, retryAfter: number | undefined): string {
  const reason = closed ? 'The service cannot take this request now.' : 'Too many requests.';
  if (retryAfter === undefined) return reason;
  return `${reason} Try again in ${retryAfter} ${retryAfter === 1 ? 'second' : 'seconds'}.`;
}
