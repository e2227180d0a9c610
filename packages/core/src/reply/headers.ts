import { parseList, serializeItem, serializeList } from 'structured-headers';
import { isDisclosed, type Outcome, type Verdict } from '../decision.ts';

/** Reads a header of the response as it stands (as Node or as Fetch gives it), to add to what is said there already. */
export type ExistingHeader = (name: string) => string | number | readonly string[] | null | undefined;

export type Headers = (readonly [name: string, value: string])[];

/** Whole seconds, rounded up: a client that comes back when told to must not be too early. */
export function toSeconds(ms: number): number {
  return Math.ceil(ms / 1000);
}

/**
 * The quota headers of a decision. A degraded answer has none: it would be invented quota.
 * @param retryAfter seconds that the client is told to wait, by this decision or an earlier one; undefined if by none
 */
export function toQuotaHeaders(
  { allowed, binding, outcomes, quota }: Verdict,
  existing: ExistingHeader,
  retryAfter: number | undefined,
  nowMs: number,
): Headers {
  if (quota === undefined) return [];
  const headers = ietf(outcomes.filter(isDisclosed), existing, retryAfter);
  // A denial by a limit that is not told of leaves nothing true to say in a single value.
  if (allowed ? retryAfter !== undefined : binding !== quota) return headers;
  // Another limiter on the same route may have said less already: what is there stays if it is tighter.
  const earlier = Number.parseInt(String(existing('RateLimit-Remaining')), 10);
  if (allowed && earlier <= quota.remaining) return headers;
  headers.push(...draft6(quota), ...legacy(quota, nowMs));
  return headers;
}

/** The single-value fields, which a denial must not leave standing when it cannot replace them. */
export const SINGLE_VALUES = [
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
] as const;

/**
 * `RateLimit-Policy` and `RateLimit` of draft-ietf-httpapi-ratelimit-headers-08 to -11: lists of items whose value is
 * the limit's name; `q` quota, `w` window in seconds (an integer above 0), `r` what can be used now, `t` seconds until
 * that is more. Lists append to what is there.
 */
function ietf(outcomes: readonly Outcome[], existing: ExistingHeader, retryAfter: number | undefined): Headers {
  const policy = outcomes.map(
    (outcome) => `${quoted(outcome.name)};q=${quotaOf(outcome)};w=${toSeconds(outcome.windowMs)}`,
  );
  const state = outcomes.map(({ name, remaining, nextMs }) => {
    const t = toSeconds(nextMs);
    const tells = t > 0 && (retryAfter === undefined || t <= retryAfter);
    return `${quoted(name)};r=${remaining}${tells ? `;t=${t}` : ''}`;
  });
  return [
    ['RateLimit-Policy', joined(textOf(existing('RateLimit-Policy')), policy)],
    ['RateLimit', joined(withoutLater(textOf(existing('RateLimit')), retryAfter), state)],
  ];
}

/** Retry-After must not be earlier than any `t` (§6 of the draft): of a denial, what is there loses later times. */
function withoutLater(existing: string, retryAfter: number | undefined): string {
  if (existing === '' || retryAfter === undefined) return existing;
  try {
    const list = parseList(existing);
    for (const [, parameters] of list) {
      const t: unknown = parameters.get('t');
      if (typeof t === 'number' && t > retryAfter) parameters.delete('t');
    }
    return serializeList(list);
  } catch {
    // Somebody else's field, which clients have to ignore.
    return existing;
  }
}

/** What can remain must not be more than the quota: a bucket may hold more than it gets in a window. */
function quotaOf({ limit, burst }: Outcome): number {
  return Math.max(limit, burst);
}

/** The three fields of draft -06. Reset is in delta seconds in every revision of the draft, never an epoch. */
function draft6(outcome: Outcome): Headers {
  const { remaining, resetMs } = outcome;
  return [
    ['RateLimit-Limit', String(quotaOf(outcome))],
    ['RateLimit-Remaining', String(remaining)],
    ['RateLimit-Reset', String(toSeconds(resetMs))],
  ];
}

/** The customary fields, as GitHub writes them: Reset is the epoch second. */
function legacy(outcome: Outcome, nowMs: number): Headers {
  const { remaining, resetMs } = outcome;
  return [
    ['X-RateLimit-Limit', String(quotaOf(outcome))],
    ['X-RateLimit-Remaining', String(remaining)],
    ['X-RateLimit-Reset', String(toSeconds(nowMs + resetMs))],
  ];
}

const names = new Map<string, string>();

/** The name as a structured-field string. Names are validated with their policy, and few. */
function quoted(name: string): string {
  let text = names.get(name);
  if (text === undefined) names.set(name, (text = serializeItem([name, new Map()])));
  return text;
}

function joined(existing: string, items: readonly string[]): string {
  const ours = items.join(', ');
  return existing === '' ? ours : `${existing}, ${ours}`;
}

function textOf(header: ReturnType<ExistingHeader>): string {
  if (header === undefined || header === null) return '';
  return Array.isArray(header) ? header.join(', ') : String(header);
}
