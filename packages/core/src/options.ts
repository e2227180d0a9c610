import { ConfigError } from './errors.ts';

const MAX_SHOWN = 60;

/** Prints a received value in an error: short, on one line, never the content of an object (it may hold a secret). */
export function show(value: unknown): string {
  if (typeof value === 'string') return showText(value);
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'symbol') return 'a symbol';
  if (typeof value === 'bigint') return shorten(`${value}n`, (digits) => digits);
  if (typeof value === 'object' && value !== null) {
    const kind = kindOf(value);
    if (kind === 'Object' || kind === 'Array') return `an ${kind.toLowerCase()}`;
    return `${/^[AEIO]/.test(kind) ? 'an' : 'a'} ${kind}`;
  }
  return String(value);
}

function showText(text: string): string {
  // In the wrong place it may be the URL of the store, and the password in it is nobody else's business.
  return shorten(text.replace(/(rediss?:\/\/|:\/\/(?=.*@)).*/is, '$1…'), quote);
}

/** On one line, whatever a terminal takes for the end of one. */
function quote(text: string): string {
  return JSON.stringify(text).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (invisible) => `\\u{${invisible.codePointAt(0)?.toString(16)}}`,
  );
}

function shorten(text: string, print: (text: string) => string): string {
  return text.length > MAX_SHOWN ? `${print(text.slice(0, MAX_SHOWN))}…` : print(text);
}

/** `Object`, `Array`, `Map`, `Promise`: by its tag, so that a copy from another realm is the same. */
function kindOf(value: unknown): string {
  try {
    return Object.prototype.toString.call(value).slice('[object '.length, -1);
  } catch {
    // A proxy may throw at whatever it is asked.
    return 'Object';
  }
}

/** @throws ConfigError naming the option, its rule and the value received. */
export function invalid(option: string, rule: string, value: unknown): never {
  throw new ConfigError('invalid-option', option, `${option} must be ${rule}; received ${show(value)}.`);
}

/** The path of an option. A name that is no plain word is quoted, or it could break the line. */
export function pathTo(where: string, name: string): string {
  return /^[\w$]+$/.test(name) ? `${where}.${name}` : entryOf(where, name);
}

/** The path of an entry whose key is any text: `routes['/x']`. */
export function entryOf(where: string, key: string): string {
  return `${where}['${shorten(key, (start) => quote(start).slice(1, -1))}']`;
}

/** What an error may say of a secret: nothing of its content, not even when it is too short or of a wrong type. */
export function secretAs(value: unknown): unknown {
  if (typeof value === 'string') return 'a shorter one';
  return typeof value === 'number' || typeof value === 'bigint' ? `a value of type ${typeof value}` : value;
}

/** An options object without unknown names: a misspelt option must not be silently ignored. */
export function checkOptions(where: string, options: unknown, known: readonly string[]): void {
  // Of a Map, or of a promise that nobody awaited, no option would be seen: everything would be as by default.
  if (!isRecord(options)) invalid(where, 'an object', options);
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const nearest = nearestOf(known, name);
    const hint = nearest === undefined ? `known options: ${known.join(', ')}` : `did you mean ${nearest}?`;
    throw new ConfigError('unknown-option', pathTo(where, name), `${where} has no option ${show(name)}; ${hint}`);
  }
}

/** Whether something has its content in its properties. `Module` is what `import * as options` gives. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return ['Object', 'Module'].includes(kindOf(value));
}

export function checkInteger(option: string, value: unknown, min: number, max: number): number {
  if (Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max) return value as number;
  return invalid(option, `an integer from ${min} to ${max}`, value);
}

export function checkOneOf<T extends string>(option: string, value: unknown, allowed: readonly T[]): T {
  if (allowed.includes(value as T)) return value as T;
  return invalid(option, `one of ${allowed.map((one) => `'${one}'`).join(', ')}`, value);
}

export function checkFunction(option: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'function') invalid(option, 'a function', value);
}

/** The name that was meant, where it is at most two letters away. */
function nearestOf(known: readonly string[], name: string): string | undefined {
  let nearest: string | undefined;
  let least = 3;
  for (const candidate of known) {
    const letters = distance(candidate.toLowerCase(), name.toLowerCase());
    if (letters < least) [nearest, least] = [candidate, letters];
  }
  return nearest;
}

/** Levenshtein distance, for option names of a few letters. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substituted = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, substituted));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
