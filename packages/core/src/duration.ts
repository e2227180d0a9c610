import { invalid } from './options.ts';

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
type Unit = keyof typeof UNITS;

/** Milliseconds as a whole number, or a whole number with a unit: `'500ms'`, `'10s'`, `'1m'`, `'1h'`, `'1d'`. */
export type Duration = number | `${number}${Unit}`;

/** 31 days: the longest window. With it, `limit × windowMs` stays below 2^53 for limits up to 3.3 million. */
export const MAX_WINDOW_MS: number = 31 * UNITS.d;

/** @throws ConfigError when the duration is not a whole number of milliseconds from `minMs` to `maxMs`. */
export function toMs(option: string, value: unknown, minMs: number, maxMs: number): number {
  const ms = typeof value === 'string' ? parse(value) : value;
  if (Number.isSafeInteger(ms) && (ms as number) >= minMs && (ms as number) <= maxMs) return ms as number;
  return invalid(option, `a duration from ${minMs} ms to ${maxMs} ms, such as 60000, '10s' or '1m'`, value);
}

/** One spelling for each duration: `60s`, `60000` and `1m` are all `1m`. */
export function formatDuration(ms: number): string {
  const unit = (['d', 'h', 'm', 's'] as const).find((one) => ms % UNITS[one] === 0) ?? 'ms';
  return `${ms / UNITS[unit]}${unit}`;
}

function parse(text: string): number {
  const match = /^(\d+)(ms|s|m|h|d)$/.exec(text);
  return match === null ? Number.NaN : Number(match[1]) * UNITS[match[2] as Unit];
}
