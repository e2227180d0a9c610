import { serializeItem } from 'structured-headers';
import { bindingOf, type Decision, type Outcome } from '../decision.ts';

/** Reads a header of the response as it stands (as Node or as Fetch gives it), to add to what is said there already. */
export type ExistingHeader = (name: string) => string | number | readonly string[] | null | undefined;

export type HeaderFamily = 'ietf' | 'draft-6' | 'legacy';

/** The families written by default. Single-value families report the limit that binds. */
export const DEFAULT_FAMILIES: readonly HeaderFamily[] = ['ietf', 'draft-6', 'legacy'];

export type Headers = (readonly [name: string, value: string])[];

/** Whole seconds, rounded up: a client that comes back when told to must not be too early. */
export function toSeconds(ms: number): number {
  return Math.ceil(ms / 1000);
}

/** The quota headers of a decision. A degraded answer has none: it would be invented quota. */
export function toQuotaHeaders(decision: Decision, existing: ExistingHeader, nowMs: number): Headers {
  if (decision.source !== 'store') return [];
  const disclosed = decision.outcomes.filter(({ disclosed: tells, policy }) => tells && policy.disclose === 'full');
  if (disclosed.length === 0) return [];
  const headers = ietf(disclosed, decision, existing);
  const binding = bindingOf(disclosed) as Outcome;
  // Another limiter on the same route may have said less already: what is there stays if it is tighter.
  const earlier = Number.parseInt(String(existing('RateLimit-Remaining')), 10);
  if (decision.allowed && earlier <= binding.remaining) return headers;
  headers.push(...draft6(binding), ...legacy(binding, nowMs));
  return headers;
}

/**
 * `RateLimit-Policy` and `RateLimit` of draft-ietf-httpapi-ratelimit-headers-08 to -11: lists of items whose value is
 * the limit's name; `q` quota, `w` window in seconds (an integer above 0), `r` what can be used now, `t` seconds until
 * that is more. Lists append to what is there.
 */
function ietf(outcomes: readonly Outcome[], decision: Decision, existing: ExistingHeader): Headers {
  const policy = outcomes.map(({ name, limit, windowMs }) => `${quoted(name)};q=${limit};w=${toSeconds(windowMs)}`);
  const state = outcomes.map(
    (outcome) => `${quoted(outcome.name)};r=${outcome.remaining}${resetParameter(outcome, decision)}`,
  );
  return [
    ['RateLimit-Policy', joined(existing('RateLimit-Policy'), policy)],
    ['RateLimit', joined(existing('RateLimit'), state)],
  ];
}

/** Retry-After must not be earlier than any `t` (§6 of the draft): of a denial, later times are left out. */
function resetParameter({ nextMs }: Outcome, { allowed, retryAfterMs = Infinity }: Decision): string {
  if (nextMs === 0) return '';
  const seconds = toSeconds(nextMs);
  return allowed || seconds <= toSeconds(retryAfterMs) ? `;t=${seconds}` : '';
}

/** The three fields of draft -06. Reset is in delta seconds in every revision of the draft, never an epoch. */
function draft6({ limit, remaining, resetMs }: Outcome): Headers {
  return [
    ['RateLimit-Limit', String(limit)],
    ['RateLimit-Remaining', String(remaining)],
    ['RateLimit-Reset', String(toSeconds(resetMs))],
  ];
}

/** The customary fields, as GitHub writes them: Reset is the epoch second. */
function legacy({ limit, remaining, resetMs }: Outcome, nowMs: number): Headers {
  return [
    ['X-RateLimit-Limit', String(limit)],
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

function joined(existing: ReturnType<ExistingHeader>, items: readonly string[]): string {
  const ours = items.join(', ');
  if (existing === undefined || existing === null || existing === '') return ours;
  return `${Array.isArray(existing) ? existing.join(', ') : String(existing)}, ${ours}`;
}
