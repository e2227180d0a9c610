import type { WarningCode } from '@tollgate/core';
import { expect } from 'vitest';
import type { Sample } from './load.ts';
import { MODES, NARROW, NARROW_SHARE, requestOf } from './policies.ts';
import { type Stage, statesOf } from './stage.ts';

/** Lines about one connection, one for each new kind of trouble. */
const CONNECTION_LINES = 6;

/** Each policy in its own way, and nobody is told a quota that nobody knows. */
export function expectDegraded(samples: readonly Sample[]): void {
  expect(samples.length).toBeGreaterThan(60);
  const wrong = samples.filter(
    ({ mode, source, allowed, quota }) => source !== mode || allowed !== (mode !== 'closed') || quota,
  );
  expect(wrong).toEqual([]);
}

/** A caller who comes during the outage has a quarter of the limit. */
export async function expectShare({ limiter }: Stage): Promise<void> {
  const requests = Array.from({ length: 20 }, async () => limiter.check(requestOf('198.51.100.7'), NARROW));
  const decisions = await Promise.all(requests);
  expect(new Set(decisions.map((decision) => decision?.source))).toEqual(new Set(['local']));
  expect(decisions.filter((decision) => decision?.allowed)).toHaveLength(NARROW_SHARE);
}

/** One outage is told of once, counted as often as it was told, and needs a handful of lines. */
export function expectEvents(
  codes: readonly WarningCode[],
  counts: ReadonlyMap<WarningCode, number>,
  misconfigured: boolean,
): void {
  const begin: WarningCode[] = misconfigured ? ['store-degraded', 'store-misconfigured'] : ['store-degraded'];
  expect(statesOf(codes).toSorted()).toEqual([...begin, 'store-recovered']);
  expect(codes.at(-1)).toBe('store-recovered');
  for (const code of new Set(codes)) {
    expect([code, counts.get(code)]).toEqual([code, codes.filter((one) => one === code).length]);
  }
  expect(codes.filter((code) => code === 'store-connection').length).toBeLessThanOrEqual(CONNECTION_LINES);
}

export function isFromStore({ source }: Sample): boolean {
  return source === 'store';
}

/** Changes between the store and its place, in the order in which requests were sent; the most of any policy. */
export function flipsIn(samples: readonly Sample[]): number {
  const flips = MODES.map((mode) => {
    const sent = samples.filter((sample) => sample.mode === mode).toSorted((a, b) => a.sentAt - b.sentAt);
    return sent.filter((sample, i) => i > 0 && isFromStore(sample) !== isFromStore(sent[i - 1] as Sample)).length;
  });
  return Math.max(...flips);
}
