import { serializeDictionary, serializeItem } from 'structured-headers';
import { isDisclosed, type Outcome, type Verdict } from '../decision.ts';
import {
  appended,
  type ExistingHeader,
  isPolicy,
  isQuota,
  isState,
  numberOf,
  quotasIn,
  remainingOf,
  textOf,
} from './existing.ts';
import type { HeaderFamily } from './reply-options.ts';

export type Headers = (readonly [name: string, value: string])[];

/** Whole seconds, rounded up: a client that comes back when told to must not be too early. */
export function toSeconds(ms: number): number {
  return Math.ceil(ms / 1000);
}

/** What the fields of a response are to tell. */
interface Told {
  readonly outcomes: readonly Outcome[];
  /** For fields of a single value: the limit that binds, where there is something true to say in one. */
  readonly single: Outcome | undefined;
  readonly denied: boolean;
  /** Seconds that the client is told to wait, by this decision or an earlier one; 0 when the request can never pass. */
  readonly retryAfter: number | undefined;
  readonly nowMs: number;
}

type Writer = (told: Told, existing: ExistingHeader) => Headers;

/** The field that a client reads what remains from, and what is there already. */
type Remaining = (existing: ExistingHeader) => number | undefined;

export interface QuotaHeaders {
  readonly headers: Headers;
  /** Fields of a single value that contradict a denial, where nothing replaces them. */
  readonly remove: string[];
}

const X_FIELDS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] as const;
const TRIPLE = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'] as const;
/** Whoever wrote them: after a denial they must not go on telling of plenty. */
const SINGLE_VALUES = [...TRIPLE, ...X_FIELDS];

/** The names of all fields that these families write. */
export function fieldsOf(families: ReadonlySet<HeaderFamily>): readonly string[] {
  const lists = families.has('ietf') || families.has('draft-7') ? ['RateLimit-Policy', 'RateLimit'] : [];
  return [
    ...(families.has('draft-6') && lists.length === 0 ? ['RateLimit-Policy'] : lists),
    ...(families.has('draft-6') ? TRIPLE : []),
    ...(families.has('legacy') ? X_FIELDS : []),
  ];
}

/**
 * Makes the one place that knows the fields and their syntax.
 * @param partitionKey names a partition in `pk`; undefined: it is not told
 */
export function createHeaderWriter(
  families: ReadonlySet<HeaderFamily>,
  partitionKey: ((partition: string) => string) | undefined,
): (verdict: Verdict, existing: ExistingHeader, retryAfter: number | undefined, nowMs: number) => QuotaHeaders {
  const writers: Writer[] = [];
  if (families.has('ietf')) writers.push(ietf(partitionKey));
  else if (families.has('draft-7') || families.has('draft-6')) writers.push(numbered);
  if (families.has('draft-7')) writers.push(single(remainsInDictionary, draft7));
  if (families.has('draft-6')) writers.push(single(remainsIn(TRIPLE), draft6));
  if (families.has('legacy')) writers.push(single(remainsIn(X_FIELDS), legacy));

  return function write({ allowed, binding, outcomes, quota }, existing, retryAfter, nowMs) {
    // A degraded answer has no quota: it would be invented.
    const disclosed = quota === undefined ? [] : outcomes.filter(isDisclosed);
    // A denial by a limit that is not told of leaves nothing true to say in a single value.
    const isTrue = allowed ? retryAfter === undefined : binding === quota;
    const told = { outcomes: disclosed, single: isTrue ? quota : undefined, denied: !allowed, retryAfter, nowMs };
    const headers: Headers = [];
    for (const writer of writers) headers.push(...writer(told, existing));
    return { headers, remove: allowed ? [] : leftovers(headers, existing) };
  };
}

/**
 * `RateLimit-Policy` and `RateLimit` of draft-ietf-httpapi-ratelimit-headers-08 to -11: lists of items whose value is
 * the limit's name; `q` quota, `w` window in seconds (an integer above 0), `r` what can be used now, `t` seconds until
 * that is more, `pk` the partition.
 */
function ietf(partitionKey: ((partition: string) => string) | undefined): Writer {
  return function write({ outcomes, denied, retryAfter }, existing) {
    if (outcomes.length === 0) return denied ? corrected(existing, retryAfter) : [];
    const policies: string[] = [];
    const states: string[] = [];
    for (const outcome of outcomes) {
      const name = quoted(outcome.name);
      const pk = partitionKey === undefined ? '' : `;pk=${partitionKey(outcome.partition)}`;
      const t = toSeconds(outcome.nextMs);
      const tells = t > 0 && (retryAfter === undefined || t <= retryAfter);
      policies.push(`${name};q=${quotaOf(outcome)};w=${toSeconds(outcome.windowMs)}${pk}`);
      states.push(`${name};r=${outcome.remaining}${tells ? `;t=${t}` : ''}${pk}`);
    }
    return [
      ['RateLimit-Policy', appended(existing('RateLimit-Policy'), policies, isPolicy)],
      ['RateLimit', appended(existing('RateLimit'), states, isState, retryAfter)],
    ];
  };
}

/** A denial that discloses nothing still must not leave a later `t` beside its `Retry-After`. */
function corrected(existing: ExistingHeader, retryAfter: number | undefined): Headers {
  const before = textOf(existing('RateLimit'));
  const after = appended(before, [], isState, retryAfter);
  return after === '' || after === before ? [] : [['RateLimit', after]];
}

/** `RateLimit-Policy` of draft -04 to -07: `100;w=60`. No two may have the same number (§2.2 of -06). */
const numbered: Writer = ({ outcomes }, existing) => {
  if (outcomes.length === 0) return [];
  const field = existing('RateLimit-Policy');
  const quotas = new Set(quotasIn(field));
  const members: string[] = [];
  for (const outcome of outcomes) {
    const quota = quotaOf(outcome);
    if (quotas.has(quota)) continue;
    quotas.add(quota);
    members.push(`${quota};w=${toSeconds(outcome.windowMs)}`);
  }
  return [['RateLimit-Policy', appended(field, members, isQuota)]];
};

/** Fields of a single value: what another limiter on the route wrote stays if it is tighter, unless this one denies. */
function single(remains: Remaining, write: (outcome: Outcome, told: Told) => Headers): Writer {
  return function writeSingle(told, existing) {
    const { single: outcome, denied } = told;
    if (outcome === undefined) return [];
    const earlier = denied ? undefined : remains(existing);
    return earlier !== undefined && earlier <= outcome.remaining ? [] : write(outcome, told);
  };
}

/** Of three fields that go together: what is there in part tells nothing. */
function remainsIn([limit, remaining, reset]: readonly [string, string, string]): Remaining {
  return (existing) => {
    const left = numberOf(existing(remaining));
    if (left === undefined || numberOf(existing(limit)) === undefined) return undefined;
    return numberOf(existing(reset)) === undefined ? undefined : left;
  };
}

const remainsInDictionary: Remaining = (existing) => remainingOf(existing('RateLimit'));

/** One dictionary in draft -07. */
function draft7(outcome: Outcome, told: Told): Headers {
  const { remaining } = outcome;
  return [['RateLimit', serializeDictionary({ limit: quotaOf(outcome), remaining, reset: resetOf(outcome, told) })]];
}

/** Three fields up to draft -06. Reset is in delta seconds in every revision, never an epoch. */
function draft6(outcome: Outcome, told: Told): Headers {
  const values = [quotaOf(outcome), outcome.remaining, resetOf(outcome, told)];
  return TRIPLE.map((name, i) => [name, String(values[i])]);
}

/** The customary fields, as GitHub writes them: Reset is the epoch second. */
function legacy(outcome: Outcome, { nowMs }: Told): Headers {
  const values = [quotaOf(outcome), outcome.remaining, toSeconds(nowMs + outcome.resetMs)];
  return X_FIELDS.map((name, i) => [name, String(values[i])]);
}

/** Reset and Retry-After are to name one moment (§5 of draft -06): of a denial when the request passes, else when all is free. */
function resetOf({ resetMs }: Outcome, { denied, retryAfter }: Told): number {
  return denied && retryAfter !== undefined && retryAfter > 0 ? retryAfter : toSeconds(resetMs);
}

/** What can remain must not be more than the quota: a bucket may hold more than it gets in a window. */
function quotaOf({ limit, burst }: Outcome): number {
  return Math.max(limit, burst);
}

function leftovers(headers: Headers, existing: ExistingHeader): string[] {
  const left = SINGLE_VALUES.filter((name) => headers.every(([written]) => written !== name));
  // Of draft -07, RateLimit is a single value as well.
  const isStale = headers.every(([name]) => name !== 'RateLimit') && remainingOf(existing('RateLimit')) !== undefined;
  return isStale ? [...left, 'RateLimit'] : left;
}

const names = new Map<string, string>();

/** The name as a structured-field string. Names are validated with their policy, and few: the rest of an item is integers. */
function quoted(name: string): string {
  let text = names.get(name);
  if (text === undefined) names.set(name, (text = serializeItem([name, new Map()])));
  return text;
}
