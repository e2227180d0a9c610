import { type Item, parseDictionary, parseList, serializeList } from 'structured-headers';

/** Reads a header of the response as it stands (as Node or as Fetch gives it), to add to what is said there already. */
export type ExistingHeader = (name: string) => string | number | readonly string[] | null | undefined;

export function textOf(header: ReturnType<ExistingHeader>): string {
  if (header === undefined || header === null) return '';
  return Array.isArray(header) ? header.join(', ') : String(header);
}

/** A number that a field begins with; undefined where it has none. */
export function numberOf(header: ReturnType<ExistingHeader>): number | undefined {
  const value = Number.parseInt(textOf(header), 10);
  return Number.isNaN(value) ? undefined : value;
}

/** What `RateLimit: limit=100, remaining=42` of draft -07 has remaining. */
export function remainingOf(header: ReturnType<ExistingHeader>): number | undefined {
  try {
    const value: unknown = parseDictionary(textOf(header)).get('remaining')?.[0];
    return typeof value === 'number' ? value : undefined;
  } catch {
    return undefined;
  }
}

type Member = (value: unknown) => boolean;

/** A list's members are all names (`"read";q=5`) from draft -08 on, and all numbers (`5;w=60`) before. */
export const isName: Member = (value) => typeof value === 'string';
export const isNumber: Member = (value) => Number.isInteger(value);

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
    if (!list.every(([value]) => isMember(value))) return '';
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
