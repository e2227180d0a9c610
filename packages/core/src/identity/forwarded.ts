/** `token` of RFC 9110 §5.6.2. */
const TOKEN = String.raw`[!#$%&'*+\-.^_${'`'}|~\w]+`;
/**
 * One `name=value` of RFC 7239 §4, and what stands behind it. A quoted value may hold commas and semicolons; a pair may
 * be empty, as in `for=1.2.3.4;`.
 */
const PAIR = new RegExp(String.raw`[ \t]*(?:(${TOKEN})=("(?:[^"\\]|\\.)*"|${TOKEN})[ \t]*)?(;|,|$)`, 'y');

/**
 * The `for` of each element of a Forwarded header, first to last; an element without one gives an empty string.
 * By hand, because the parser on npm needs Node's `util`, which edge runtimes do not have.
 * @returns undefined when the header is malformed: then nothing in it is what it seems
 */
export function parseForwarded(header: string): readonly string[] | undefined {
  const elements: string[] = [];
  let names = new Map<string, string>();
  PAIR.lastIndex = 0;
  for (;;) {
    const match = PAIR.exec(header);
    if (match === null) return undefined;
    const [, name, value = '', separator] = match;
    if (name !== undefined) {
      // Each name at most once per element (§4): a second one would be an attempt to be read differently elsewhere.
      if (names.has(name.toLowerCase())) return undefined;
      names.set(name.toLowerCase(), value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value);
    }
    if (separator === ';') continue;
    elements.push(names.get('for') ?? '');
    names = new Map();
    if (separator === '') return elements;
  }
}
