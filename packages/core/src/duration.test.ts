import { describe, expect, it } from 'vitest';
import { MAX_WINDOW_MS, toMs } from './duration.ts';

const toWindow = (value: unknown): number => toMs('window', value, 1, MAX_WINDOW_MS);

describe('toMs', () => {
  it.each([
    [1, 1],
    ['500ms', 500],
    ['10s', 10_000],
    ['1m', 60_000],
    ['2h', 7_200_000],
    ['31d', 2_678_400_000],
  ])('%s is %i ms', (value, ms) => {
    expect(toWindow(value)).toBe(ms);
  });

  it.each([
    0,
    -1,
    1.5,
    Number.NaN,
    Infinity,
    2 ** 60,
    '0s',
    '-1s',
    '1.5s',
    '5 parsecs',
    '10',
    '',
    ' 10s',
    '10 s',
    '1M',
    '32d',
    null,
    undefined,
    {},
    [],
    true,
    10n,
  ])('refuses %s, naming option, rule and value', (value) => {
    expect(() => toWindow(value)).toThrow(/^window must be a duration from 1 ms to 2678400000 ms.*; received /);
  });
});
