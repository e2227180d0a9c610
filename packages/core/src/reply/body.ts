import { isDisclosed, type Verdict } from '../decision.ts';

/** The JSON body of a denial. */
export interface DenialBody {
  readonly error: 'rate_limit_exceeded' | 'rate_limit_unavailable';
  readonly message: string;
  /** Seconds; missing when the request can never pass. */
  readonly retry_after?: number;
}

/** The body of a denial as problem details (RFC 9457), with the types of draft-ietf-httpapi-ratelimit-headers §5. */
export interface DenialProblem {
  readonly 'type': string;
  readonly 'title': string;
  readonly 'status': number;
  readonly 'detail': string;
  /** The limits that deny, as `RateLimit-Policy` names them; missing where none may be told of. */
  readonly 'violated-policies'?: readonly string[];
  readonly 'retry_after'?: number;
}

export const JSON_TYPE = 'application/json';
export const PROBLEM_TYPE = 'application/problem+json';

/** What a body is made of. */
export interface Wording {
  readonly status: number;
  /** The store is out, and the policy closes then. */
  readonly isClosed: boolean;
  readonly retryAfter: number | undefined;
  /** The application's own sentence for an exceeded limit. */
  readonly message: string | undefined;
}

export function toBody(wording: Wording): DenialBody {
  const { isClosed, retryAfter } = wording;
  return {
    error: isClosed ? 'rate_limit_unavailable' : 'rate_limit_exceeded',
    message: messageOf(wording),
    ...(retryAfter !== undefined && { retry_after: retryAfter }),
  };
}

export function toProblem(wording: Wording, { outcomes }: Verdict): DenialProblem {
  const { isClosed, status, retryAfter } = wording;
  const violated = outcomes.filter((outcome) => !outcome.allowed && isDisclosed(outcome)).map(({ name }) => name);
  const kind = isClosed
    ? { type: 'temporary-reduced-capacity', title: 'Temporary Reduced Capacity' }
    : { type: 'quota-exceeded', title: 'Quota Exceeded' };
  return {
    type: `https://iana.org/assignments/http-problem-types#${kind.type}`,
    title: kind.title,
    status,
    detail: messageOf(wording),
    ...(violated.length > 0 && { 'violated-policies': violated }),
    ...(retryAfter !== undefined && { retry_after: retryAfter }),
  };
}

function messageOf({ isClosed, retryAfter, message }: Wording): string {
  if (message !== undefined && !isClosed) return message;
  const reason = isClosed ? 'The service cannot take this request now.' : 'Too many requests.';
  if (retryAfter === undefined) return reason;
  return `${reason} Try again in ${retryAfter} ${retryAfter === 1 ? 'second' : 'seconds'}.`;
}

/**
 * Whether a client names problem details in its Accept header, and likes them no less than plain JSON. By hand, because
 * it is one question about one media type, and the negotiators on npm are neither typed nor ES modules.
 */
export function prefersProblem(accept: string | undefined): boolean {
  const quality = qualityOf(accept, PROBLEM_TYPE);
  return quality > 0 && quality >= qualityOf(accept, JSON_TYPE);
}

/** The weight of a media type that is named in full (RFC 9110 §12.4.2): 1 unless it says, 0 where it is not named. */
function qualityOf(accept: string | undefined, type: string): number {
  const range = accept
    ?.toLowerCase()
    .split(',')
    .map((one) => one.trim())
    .find((one) => one === type || one.startsWith(`${type};`) || one.startsWith(`${type} `));
  if (range === undefined) return 0;
  const weight = /;\s*q=([^;\s]*)/.exec(range)?.[1];
  return weight === undefined ? 1 : Number(weight) || 0;
}
