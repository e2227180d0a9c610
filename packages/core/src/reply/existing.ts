import { type Item, parseDictionary, parseList, serializeList } from 'structured-headers';

/** Reads a header of the response as it stands (as Node or as Fetch gives it), to add to what is said there already. */
export type ExistingHeader = (name: string) => string | number | readonly string[] | null | undefined;

export function textOf(header: ReturnType<ExistingHeader>): string {
  if (header === undefined || header === null) return '';
  return Array.isArray(header) ? header.join(', ') : String(header);
}

/** The whole number that a field is; undefined where it is none. */
export function numberOf(header: ReturnType<ExistingHeader>): number | undefined {
  const text = textOf(header);
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** What `RateLimit: limit=100, remaining=42` of draft -07 has remaining. */
export function remainingOf(header: ReturnType<ExistingHeader>): number | undefined {
  try {
    const members = parseDictionary(textOf(header));
    const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name): unknown => members.get(name)?.[0]);
    return isCount(limit) && isCount(remaining) && isCount(reset) ? (remaining as number) : undefined;
  } catch {
    return undefined;
  }
}

/** What a member of a list has to be, or the field is none that a client can read. */
export type Member = (item: Item) => boolean;

const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;
const isWindow = (value: unknown): boolean => Number.isInteger(value) && (value as number) > 0;

/** Of `RateLimit-Policy` from draft -08 on: `"read";q=5;w=60`. */
export const isPolicy: Member = ([name, parameters]) =>
  typeof name === 'string' && isCount(parameters.get('q')) && isWindow(parameters.get('w') ?? 1);
/** Of `RateLimit` from draft -08 on: `"read";r=4;t=30`. */
export const isState: Member = ([name, parameters]) =>
  typeof name === 'string' && isCount(parameters.get('r')) && isCount(parameters.get('t') ?? 0);
/** Of `RateLimit-Policy` before draft -08: `5;w=60`. */
export const isQuota: Member = ([quota, parameters]) => isCount(quota) && isWindow(parameters.get('w'));

/** The numbers that a list of draft -04 to -07 has already; none where it is no such list. */
export function quotasIn(header: ReturnType<ExistingHeader>): ReadonlySet<unknown> {
  try {
    const list = parseList(textOf(header)) as Item[];
    return new Set(list.every(isQuota) ? list.map(([quota]): unknown => quota) : []);
  } catch {
    return new Set();
  }
}

/**
 * Adds members to a list. What is there and is no list of such members is replaced: one malformed member makes clients
 * ignore the whole field (RFC 9651 §4.2), ours included.
 * @param latest of the denial that is written: times later than that are dropped from what is there, because
 * `Retry-After` must not be earlier than any `t` (draft -10 and -11, §6)
 */
export function appended(
  header: ReturnType<ExistingHeader>,
  members: readonly string[],
  isMember: Member,
  latest?: number,
): string {
  const text = textOf(header);
  const before = text === '' ? '' : kept(text, isMember, latest);
  const ours = members.join(', ');
  return before === '' || ours === '' ? before + ours : `${before}, ${ours}`;
}

function kept(text: string, isMember: Member, latest: number | undefined): string {
  try {
    const list = parseList(text) as Item[];
    if (!list.every(isMember)) return '';
    return list.filter(([, parameters]) => dropLater(parameters, latest)).length > 0 ? serializeList(list) : text;
  } catch {
    return '';
  }
}

/** Whether there was a time to drop. */
function dropLater(parameters: Map<string, unknown>, latest: number | undefined): boolean {
  const t = parameters.get('t');
  return latest !== undefined && typeof t === 'number' && t > latest && parameters.delete('t');
}
