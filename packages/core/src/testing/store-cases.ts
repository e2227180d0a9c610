import { expect } from 'vitest';
import { toCharge } from './charge.ts';
import type { StoreTest } from './describe-store.ts';

const FIVE_A_MINUTE = { limit: 5, window: '1m' } as const;
const MINUTE = 60_000;

/** What holds for every store, shown with the sliding window. */
export function storeCases(test: StoreTest): void {
  test('admits exactly the limit and counts down', async ({ takeOne }) => {
    const answers = [];
    for (let i = 0; i < 7; i++) answers.push(await takeOne(toCharge(FIVE_A_MINUTE, 'a')));
    expect(answers.map(({ allowed }) => allowed)).toEqual([true, true, true, true, true, false, false]);
    expect(answers.map(({ remaining }) => remaining)).toEqual([4, 3, 2, 1, 0, 0, 0]);
    expect(answers[6]).toMatchObject({ reason: 'exhausted' });
  });

  test('lets the same request pass after exactly retryAfterMs, and not 1 ms earlier', async ({ clock, takeOne }) => {
    const charge = toCharge(FIVE_A_MINUTE, 'a', 2);
    clock.advance(17_345);
    await takeOne(charge);
    await takeOne(charge);
    const { allowed, retryAfterMs } = await takeOne(charge);
    expect(allowed).toBe(false);
    clock.advance(retryAfterMs - 1);
    expect((await takeOne(charge)).allowed).toBe(false);
    clock.advance(1);
    expect((await takeOne(charge)).allowed).toBe(true);
  });

  test('a denial charges nothing and moves no time', async ({ clock, takeOne }) => {
    const charge = toCharge(FIVE_A_MINUTE, 'a', 3);
    await takeOne(charge);
    const first = await takeOne(charge);
    expect(first).toMatchObject({ allowed: false, remaining: 2 });
    clock.advance(1000);
    expect(await takeOne(charge)).toEqual({
      ...first,
      nextMs: first.nextMs - 1000,
      resetMs: first.resetMs - 1000,
      retryAfterMs: first.retryAfterMs - 1000,
    });
  });

  test('keeps partitions, limits and windows apart', async ({ takeOne }) => {
    const one = { limit: 1, window: '1m' } as const;
    for (const charge of [
      toCharge(one, 'a'),
      toCharge(one, 'b'),
      toCharge({ ...one, window: '1h' }, 'a'),
      toCharge({ ...one, name: 'other' }, 'a'),
    ]) {
      expect((await takeOne(charge)).allowed).toBe(true);
      expect((await takeOne(charge)).allowed).toBe(false);
    }
  });

  test('charges all limits of a request, or none', async ({ take, takeOne }) => {
    const wide = { limit: 100, window: '1h' } as const;
    await take(toCharge(FIVE_A_MINUTE, 'a', 4), toCharge(wide, 'a', 4));
    const [narrow, other] = await take(toCharge(FIVE_A_MINUTE, 'a', 2), toCharge(wide, 'a', 2));
    expect(narrow).toMatchObject({ allowed: false, reason: 'exhausted', remaining: 1 });
    expect(other).toMatchObject({ allowed: true, remaining: 96, retryAfterMs: 0 });
    expect(await takeOne(toCharge(wide, 'a', 0))).toMatchObject({ remaining: 96 });
  });

  test('sees the same counter twice in one request', async ({ take }) => {
    const charge = toCharge(FIVE_A_MINUTE, 'a', 3);
    const answers = await take(charge, charge);
    expect(answers.map(({ allowed }) => allowed)).toEqual([true, false]);
    expect((await take(toCharge(FIVE_A_MINUTE, 'a', 5))).map(({ allowed }) => allowed)).toEqual([true]);
  });

  test('a cost above the limit can never pass', async ({ takeOne }) => {
    expect(await takeOne(toCharge(FIVE_A_MINUTE, 'a', 6))).toMatchObject({
      allowed: false,
      reason: 'never',
      remaining: 5,
      retryAfterMs: Infinity,
    });
  });

  test('cost 0 only reads', async ({ takeOne }) => {
    const untouched = { allowed: true, remaining: 5, nextMs: 0, resetMs: 0, retryAfterMs: 0 };
    expect(await takeOne(toCharge(FIVE_A_MINUTE, 'a', 0))).toMatchObject(untouched);
    await takeOne(toCharge(FIVE_A_MINUTE, 'a', 2));
    expect(await takeOne(toCharge(FIVE_A_MINUTE, 'a', 0))).toMatchObject({ allowed: true, remaining: 3 });
    expect(await takeOne(toCharge(FIVE_A_MINUTE, 'a', 0))).toMatchObject({ allowed: true, remaining: 3 });
  });

  test('limit 0 denies everything', async ({ takeOne }) => {
    const charge = toCharge({ limit: 0, window: '1m' }, 'a');
    expect(await takeOne(charge)).toMatchObject({
      allowed: false,
      reason: 'never',
      remaining: 0,
      nextMs: 0,
      resetMs: 0,
    });
  });

  test('a change of the limit works at once, without a second budget', async ({ takeOne }) => {
    await takeOne(toCharge(FIVE_A_MINUTE, 'a', 5));
    expect(await takeOne(toCharge({ limit: 10, window: '1m' }, 'a', 5))).toMatchObject({ allowed: true, remaining: 0 });
    expect(await takeOne(toCharge({ limit: 3, window: '1m' }, 'a'))).toMatchObject({ allowed: false, remaining: 0 });
  });

  test('the previous window weighs what it still covers', async ({ clock, takeOne }) => {
    await takeOne(toCharge({ limit: 100, window: '1m' }, 'a', 100));
    clock.advance(1.5 * MINUTE);
    const answers = [];
    for (let i = 0; i < 60; i++) answers.push((await takeOne(toCharge({ limit: 100, window: '1m' }, 'a'))).allowed);
    expect(answers.filter(Boolean)).toHaveLength(50);
  });

  test('is free again after resetMs, and not before', async ({ clock, takeOne }) => {
    const { resetMs } = await takeOne(toCharge(FIVE_A_MINUTE, 'a', 5));
    clock.advance(resetMs - 1);
    expect((await takeOne(toCharge(FIVE_A_MINUTE, 'a', 0))).remaining).toBeLessThan(5);
    clock.advance(1);
    expect(await takeOne(toCharge(FIVE_A_MINUTE, 'a', 0))).toMatchObject({ remaining: 5, nextMs: 0, resetMs: 0 });
  });

  test('a state that is long dead changes nothing', async ({ clock, takeOne }) => {
    const fresh = await takeOne(toCharge(FIVE_A_MINUTE, 'fresh', 3));
    await takeOne(toCharge(FIVE_A_MINUTE, 'a', 5));
    for (const windows of [2, 3, 1000, 8192, 40_000]) {
      clock.advance(windows * MINUTE);
      expect(await takeOne(toCharge(FIVE_A_MINUTE, 'a', 3))).toEqual(fresh);
    }
  });

  test('windows from 1 ms to 31 days', async ({ clock, takeOne }) => {
    for (const window of [1, 500, 2_678_400_000] as const) {
      const charge = toCharge({ limit: 1, window }, `w${window}`);
      expect((await takeOne(charge)).allowed).toBe(true);
      const { allowed, retryAfterMs } = await takeOne(charge);
      expect(allowed).toBe(false);
      clock.advance(retryAfterMs);
      expect((await takeOne(charge)).allowed).toBe(true);
    }
  });

  test('counts exactly up to the largest limits', async ({ takeOne }) => {
    for (const [limit, window] of [
      [1_000_000, '31d'],
      [999_999_999, '1s'],
      [9_007_199_254, 1_000_000 - 1],
      [1_000_000_000_000, 9000],
    ] as const) {
      const rule = { limit, window, name: `l${limit}` };
      expect(await takeOne(toCharge(rule, 'a', limit - 1))).toMatchObject({ allowed: true, remaining: 1 });
      expect(await takeOne(toCharge(rule, 'a', 2))).toMatchObject({ allowed: false, remaining: 1 });
      expect(await takeOne(toCharge(rule, 'a', 1))).toMatchObject({ allowed: true, remaining: 0 });
    }
  });

  test('a clock that steps back by up to a window makes clients wait the difference', async ({ clock, takeOne }) => {
    const charge = toCharge(FIVE_A_MINUTE, 'a', 5);
    const { resetMs } = await takeOne(charge);
    clock.advance(-20_000);
    const { allowed, retryAfterMs, resetMs: later } = await takeOne(charge);
    expect(allowed).toBe(false);
    expect(later).toBe(resetMs + 20_000);
    clock.advance(retryAfterMs);
    expect((await takeOne(charge)).allowed).toBe(true);
  });

  test('a clock that is set back by an hour locks nobody out', async ({ clock, takeOne }) => {
    const charge = toCharge(FIVE_A_MINUTE, 'a', 5);
    await takeOne(charge);
    clock.advance(-60 * MINUTE);
    const { allowed, retryAfterMs } = await takeOne(charge);
    expect(allowed).toBe(false);
    expect(retryAfterMs).toBeLessThanOrEqual(2 * MINUTE);
    clock.advance(retryAfterMs - 1);
    expect((await takeOne(charge)).allowed).toBe(false);
    clock.advance(1);
    expect((await takeOne(charge)).allowed).toBe(true);
  });

  test('ordinary names of prototypes are ordinary partitions', async ({ takeOne }) => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      expect(await takeOne(toCharge(FIVE_A_MINUTE, name))).toMatchObject({ allowed: true, remaining: 4 });
    }
    expect(({} as { count?: unknown }).count).toBeUndefined();
  });

  test('admits exactly the limit of concurrent calls', async ({ takeOne }) => {
    const charge = toCharge({ limit: 50, window: '1m' }, 'a');
    const answers = await Promise.all(Array.from({ length: 200 }, () => takeOne(charge)));
    const admitted = answers.filter(({ allowed }) => allowed);
    expect(admitted.map(({ remaining }) => remaining).toSorted((a, b) => b - a)).toEqual(
      Array.from({ length: 50 }, (_, i) => 49 - i),
    );
  });
}
