/** A segment of a path is its text; of a pattern it may be a parameter, or the rest of the path, nothing included. */
export type Segment = string | typeof PARAM | typeof REST;
export const PARAM: unique symbol = Symbol(':param');
export const REST: unique symbol = Symbol('*');

/** What every server reads in the same way, and what this file spells so itself: one test for nearly all requests. */
const PLAIN = /^(?:\/[a-z0-9_~-][a-z0-9_~.-]*)*\/?$/;
/** Encodings, path parameters, backslashes, control characters, empty and dot segments: servers differ on all of them. */
// oxlint-disable-next-line no-control-regex -- these are what it looks for
const AMBIGUOUS = /[%;\\\x00-\x20\x7F]|\/\/|\/\.{1,2}(?:\/|$)|^[^/]/;

/** Whether there is only one way to read a path, but for its case. */
export function isClean(path: string): boolean {
  return PLAIN.test(path) || !AMBIGUOUS.test(path);
}

/** One spelling of what any router may take for equal, whether it compares in lower case, in upper case or by a regular expression. */
export function foldCase(text: string): string {
  // There and back: `ẞ` and `ß` are equal in lower case alone, `ſ` and `s` in upper case alone.
  return text.toLowerCase().toUpperCase().toLowerCase();
}

/** The segments of a path, without a trailing slash. */
export function toSegments(path: string): readonly string[] {
  const start = path.startsWith('/') ? 1 : 0;
  const end = path.length > start && path.endsWith('/') ? -1 : path.length;
  const text = path.slice(start, end);
  return text === '' ? [] : text.split('/');
}

/** The segments of a clean path, or of another one in its only reading. */
export function foldPath(path: string): readonly string[] {
  return toSegments(PLAIN.test(path) ? path : foldCase(path));
}

/**
 * How routers read a path: nearly as it is (Express), or decoded, but for encoded slashes or with them, with slashes
 * collapsed or not, and up to a semicolon or beyond it (Fastify, by its options).
 */
export function routerReadings(path: string): readonly (readonly string[])[] {
  if (isClean(path)) return [foldPath(path)];
  return [...spellings(path)].map(toSegments);
}

/**
 * How routers, and whatever they hand a path on to, may read it: with dot segments resolved as well, and without what two
 * slashes begin, which is a host to `new URL(path, base)`.
 */
export function allReadings(path: string): readonly (readonly string[])[] {
  const host = /^[/\\]{2,}[^/\\]*/.exec(path)?.[0];
  const readings = [path, ...(host === undefined ? [] : [path.slice(host.length)])].flatMap(routerReadings);
  return [...readings, ...readings.filter(hasDots).map(resolveDots)];
}

function spellings(path: string): Set<string> {
  const all = new Set<string>();
  for (const whole of new Set(pathsOf(path).flatMap((one) => [one, one.replace(/;.*$/s, '')]))) {
    for (const decoded of new Set([whole, decode(whole, decodeURI), decode(whole, decodeURIComponent)])) {
      all.add(foldCase(decoded));
      all.add(foldCase(decoded.replace(/\/{2,}/g, '/')));
      all.add(foldCase(decoded.replace(/[\\/]+/g, '/')));
    }
  }
  return all;
}

/** What does not begin with a slash may be more than one path: Fastify 4 takes `*login` and `http://host?x/login` for `/login`. */
function pathsOf(path: string): readonly string[] {
  if (path.startsWith('*')) return [path, `/${path.slice(1)}`];
  const host = /^[^/]*:\/\/[^/]*/.exec(path)?.[0];
  return host === undefined ? [path] : ['/', path.slice(host.length).replace(/[?#].*$/s, '')];
}

/** Decodes once: what was encoded twice is encoded still. Bytes that are no UTF-8 stay as they are. */
function decode(path: string, decoder: (text: string) => string): string {
  return path.replace(/%[0-7][\da-f]|(?:%[89a-f][\da-f])+/gi, (encoded) => {
    try {
      return decoder(encoded);
    } catch {
      return encoded;
    }
  });
}

function hasDots(segments: readonly string[]): boolean {
  return segments.includes('.') || segments.includes('..');
}

function resolveDots(segments: readonly string[]): readonly string[] {
  const resolved: string[] = [];
  for (const segment of segments) {
    if (segment === '..') resolved.pop();
    else if (segment !== '.') resolved.push(segment);
  }
  return resolved;
}

/** Whether all paths of `other`, or the path that it is, are paths of the pattern. */
export function covers(pattern: readonly Segment[], other: readonly Segment[]): boolean {
  for (let i = 0; i < pattern.length; i++) {
    const segment = pattern[i];
    if (segment === REST) return true;
    const counterpart = other[i];
    // No router takes an empty segment for a parameter's value, but one in the last place, which is a trailing slash.
    if (counterpart === undefined || counterpart === REST || counterpart === '') return false;
    if (segment !== PARAM && segment !== counterpart) return false;
  }
  return pattern.length === other.length;
}

/** Whether some path is one of both patterns. */
export function overlap(one: readonly Segment[], other: readonly Segment[]): boolean {
  for (let i = 0; i < Math.max(one.length, other.length); i++) {
    const [a, b] = [one[i], other[i]];
    if (a === REST || b === REST) return true;
    if (a === undefined || b === undefined) return false;
    if (typeof a === 'string' && typeof b === 'string' && a !== b) return false;
  }
  return true;
}

/**
 * The segments of a pattern as a framework wrote it. Frameworks differ in what may stand in a segment: one with a name in
 * it matches something, and from one that is optional, or may match several, the rest can be anything.
 */
export function toPattern(route: string): readonly Segment[] {
  const pattern: Segment[] = [];
  for (const text of toSegments(route)) {
    // Of a name, what it has to look like: `:id(\\d+)`, `:id{[0-9]+}`.
    const bare = text.startsWith(':') ? text.replace(/\([^)]*\)|\{[^}]*\}/g, '') : text;
    if (/[*?+(){}[\]\\]/.test(bare)) return [...pattern, REST];
    if (bare !== '') pattern.push(bare.includes(':') ? PARAM : foldCase(decode(bare, decodeURIComponent)));
  }
  return pattern;
}
