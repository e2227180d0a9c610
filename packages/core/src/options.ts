import { ConfigError } from './errors.ts';

/** Prints a received value in an error: short, on one line, never the content of an object (it may hold a secret). */
export function show(value: unknown): string {
  if (typeof value === 'string')
    return value.length > 60 ? `${JSON.stringify(value.slice(0, 60))}…` : JSON.stringify(value);
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'symbol') return 'a symbol';
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return String(value);
}

/** @throws ConfigError naming the option, its rule and the value received. */
export function invalid(option: string, rule: string, value: unknown): never {
  throw new ConfigError('invalid-option', option, `${option} must be ${rule}; received ${show(value)}.`);
}

/** A plain options object without unknown names: a misspelt option must not be silently ignored. */
export function checkOptions(where: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) invalid(where, 'an object', options);
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const nearest = known.find((candidate) => distance(candidate.toLowerCase(), name.toLowerCase()) <= 2);
    const hint = nearest === undefined ? `known options: ${known.join(', ')}` : `did you mean ${nearest}?`;
    throw new ConfigError('unknown-option', `${where}.${name}`, `${where} has no option ${show(name)}; ${hint}`);
  }
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
