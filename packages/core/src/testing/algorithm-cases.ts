import { expect } from 'vitest';
import { ALGORITHM_NAMES } from '../algorithms/algorithms.ts';
import type { LimitOptions } from '../policy/policy.ts';
import { toCharge } from './charge.ts';
import type { StoreBench, StoreTest } from './describe-store.ts';

/** Five a minute, in each algorithm's own way. */
function five(algorithm: LimitOptions['algorithm']): LimitOptions {
  return { algorithm, limit: 5, window: '1m', ...(algorithm === 'leaky-bucket' && { burst: 5 }) } as LimitOptions;
}

async function admitted({ takeOne }: StoreBench, limit: LimitOptions, times: number, cost = 1): Promise<boolean[]> {
  const passed: boolean[] = [];
  for (let i = 0; i < times; i++) passed.push((await takeOne(toCharge(limit, 'a', cost))).allowed);
  return passed;
}

/** What each algorithm is for, and what holds for all of them. */
export function algorithmCases(test: StoreTest): void {
  for (const name of ALGORITHM_NAMES) {
    test(`${name}: admits five of seven, and counts down`, async ({ takeOne }) => {
      const answers = [];
      for (let i = 0; i < 7; i++) answers.push(await takeOne(toCharge(five(name), 'a')));
      expect(answers.map(({ remaining }) => remaining)).toEqual([4, 3, 2, 1, 0, 0, 0]);
      expect(answers.map(({ reason }) => reason)).toEqual([
        undefined,
        undefined,
        undefined,
        undefined,
        undefined,
        'exhausted',
        'exhausted',
      ]);
    });

    test(`${name}: the same cost passes after exactly retryAfterMs, and not 1 ms earlier`, async ({
      clock,
      takeOne,
    }) => {
      clock.advance(12_345);
      const charge = toCharge(five(name), 'a', 3);
      await takeOne(charge);
      const { allowed, remaining, retryAfterMs } = await takeOne(charge);
      expect({ allowed, remaining }).toEqual({ allowed: false, remaining: 2 });
      clock.advance(retryAfterMs - 1);
      expect((await takeOne(charge)).allowed).toBe(false);
      clock.advance(1);
      expect((await takeOne(charge)).allowed).toBe(true);
    });

    test(`${name}: cost 0 reads, a cost that cannot fit is never, limit 0 denies all`, async ({ takeOne }) => {
      expect(await takeOne(toCharge(five(name), 'a', 0))).toMatchObject({
        allowed: true,
        remaining: 5,
        nextMs: 0,
        resetMs: 0,
      });
      expect(await takeOne(toCharge(five(name), 'a', 6))).toMatchObject({
        reason: 'never',
        remaining: 5,
        retryAfterMs: Infinity,
      });
      expect(await takeOne(toCharge({ ...five(name), limit: 0 }, 'a'))).toMatchObject({
        reason: 'never',
        remaining: 0,
      });
    });

    test(`${name}: a clock an hour back and forth locks nobody out for longer than a window`, async ({
      clock,
      takeOne,
    }) => {
      for (const [i, jump] of [-3_600_000, 3_600_000, -59_999, -60_001].entries()) {
        const charge = toCharge(five(name), `j${i}`, 5);
        const before = await takeOne(charge);
        expect(before.allowed).toBe(true);
        clock.advance(jump);
        const { allowed, retryAfterMs } = await takeOne(charge);
        expect(allowed).toBe(jump > 0);
        // What a full window costs anyway, and W for the jump.
        expect(retryAfterMs).toBeLessThanOrEqual(before.resetMs + 60_000);
        clock.advance(retryAfterMs);
        expect((await takeOne(charge)).allowed).toBe(jump < 0);
        clock.advance(600_000);
      }
    });
  }

  test('token bucket: 10 at once, then 2 a second', async (bench) => {
    const limit: LimitOptions = { algorithm: 'token-bucket', limit: 2, window: '1s', burst: 10 };
    expect((await admitted(bench, limit, 12)).filter(Boolean)).toHaveLength(10);
    bench.clock.advance(1000);
    expect(await admitted(bench, limit, 3)).toEqual([true, true, false]);
    bench.clock.advance(3_600_000);
    expect((await admitted(bench, limit, 12)).filter(Boolean)).toHaveLength(10);
  });

  test('token bucket: a change of the limit works at once, also for one who is denied', async ({ clock, takeOne }) => {
    const slow: LimitOptions = { algorithm: 'token-bucket', limit: 1, window: '1m', burst: 10 };
    await takeOne(toCharge(slow, 'a', 10));
    expect(await takeOne(toCharge(slow, 'a'))).toMatchObject({ retryAfterMs: 60_000 });
    expect(await takeOne(toCharge({ ...slow, limit: 60 }, 'a'))).toMatchObject({ allowed: false, retryAfterMs: 1000 });
    clock.advance(1000);
    expect(await takeOne(toCharge({ ...slow, limit: 60 }, 'a'))).toMatchObject({ allowed: true });
  });

  test('leaky bucket: one at a time, evenly', async ({ clock, takeOne }) => {
    const limit: LimitOptions = { algorithm: 'leaky-bucket', limit: 10, window: '1s' };
    expect((await takeOne(toCharge(limit, 'a'))).allowed).toBe(true);
    clock.advance(50);
    expect(await takeOne(toCharge(limit, 'a'))).toMatchObject({ allowed: false, retryAfterMs: 50 });
  });

  test('leaky bucket: shaping spaces requests out, up to maxDelay', async ({ clock, takeOne }) => {
    const limit: LimitOptions = { algorithm: 'leaky-bucket', limit: 10, window: '1s', shape: { maxDelay: 250 } };
    const answers = [];
    for (let i = 0; i < 5; i++) answers.push(await takeOne(toCharge(limit, 'a')));
    expect(answers.map(({ delayMs }) => delayMs)).toEqual([0, 100, 200, 0, 0]);
    expect(answers.map(({ allowed }) => allowed)).toEqual([true, true, true, false, false]);
    expect(answers[3]?.retryAfterMs).toBe(50);
    clock.advance(50);
    expect(await takeOne(toCharge(limit, 'a'))).toMatchObject({ allowed: true, delayMs: 250 });
  });

  test('fixed window: full again at the end of the window, and not before', async ({ clock, takeOne }) => {
    clock.advance(45_000);
    const limit = five('fixed-window');
    await takeOne(toCharge(limit, 'a', 5));
    const denied = await takeOne(toCharge(limit, 'a'));
    expect(denied).toMatchObject({ allowed: false, retryAfterMs: denied.resetMs });
    clock.advance(denied.resetMs + 1);
    expect(await takeOne(toCharge(limit, 'a'))).toMatchObject({ allowed: true, remaining: 4 });
  });

  test('sliding log: five in any minute', async (bench) => {
    const limit = five('sliding-log');
    const passed: boolean[] = [];
    const start = bench.clock();
    for (const second of [0, 10, 20, 30, 40, 59.9, 60.1, 60.2, 69.9, 70]) {
      bench.clock.set(start + second * 1000);
      passed.push(...(await admitted(bench, limit, 1)));
    }
    expect(passed).toEqual([true, true, true, true, true, false, true, false, false, true]);
  });

  test('sliding log: takes a larger limit at once, and its largest', async (bench) => {
    const limit: LimitOptions = { algorithm: 'sliding-log', limit: 3, window: '1m' };
    expect(await admitted(bench, limit, 4)).toEqual([true, true, true, false]);
    for (let i = 0; i < 200; i++) {
      bench.clock.advance(1);
      expect((await admitted(bench, { ...limit, limit: 10_000 }, 1, 49))[0]).toBe(true);
    }
    expect(await bench.takeOne(toCharge({ ...limit, limit: 10_000 }, 'a', 0))).toMatchObject({
      remaining: 10_000 - 3 - 200 * 49,
    });
  });

  test('sliding log: counts on when its sums have run past what three bytes hold', async ({ clock, takeOne }) => {
    const charge = toCharge({ algorithm: 'sliding-log', limit: 10_000, window: '1s' }, 'a', 5000);
    for (let i = 0; i < 3500; i++) {
      clock.advance(500);
      const { allowed, remaining } = await takeOne(charge);
      if (!allowed || remaining !== (i === 0 ? 5000 : 0))
        expect.fail(`charge ${i}: allowed ${allowed}, remaining ${remaining}`);
    }
    expect(await takeOne(charge)).toMatchObject({ allowed: false, retryAfterMs: 500 });
  });

  test('leaky bucket: shaping keeps to maxDelay when the clock steps back', async ({ clock, takeOne }) => {
    const charge = toCharge({ algorithm: 'leaky-bucket', limit: 10, window: '1m', shape: { maxDelay: '15s' } }, 'a');
    await takeOne(charge);
    clock.advance(-50_000);
    const denied = await takeOne(charge);
    expect(denied).toMatchObject({ allowed: false, retryAfterMs: 41_000 });
    clock.advance(40_999);
    expect((await takeOne(charge)).allowed).toBe(false);
    clock.advance(1);
    expect(await takeOne(charge)).toMatchObject({ allowed: true, delayMs: 15_000 });
  });

  test('mixes algorithms and partitions in one request, all or none', async ({ take, takeOne }) => {
    const charges = [
      toCharge({ algorithm: 'token-bucket', limit: 10, window: '1m' }, 'user', 4),
      toCharge({ algorithm: 'sliding-log', limit: 100, window: '1h' }, 'tenant', 4),
      toCharge({ algorithm: 'fixed-window', limit: 7, window: '1d' }, 'global', 4),
    ];
    expect((await take(...charges)).map(({ remaining }) => remaining)).toEqual([6, 96, 3]);
    const denied = await take(...charges);
    expect(denied.map(({ allowed }) => allowed)).toEqual([true, true, false]);
    expect(denied.map(({ remaining }) => remaining)).toEqual([6, 96, 3]);
    for (const [i, charge] of charges.entries()) {
      expect((await takeOne({ ...charge, cost: 0 })).remaining).toBe([6, 96, 3][i]);
    }
  });

  test('a block bars its partition from the request that exceeds the limit on, and is not made longer', async ({
    clock,
    take,
    takeOne,
  }) => {
    const blocking = { ...five('sliding-window'), block: '15m' } as const;
    const other = toCharge({ limit: 100, window: '1m', name: 'other' }, 'a');
    await takeOne(toCharge(blocking, 'a', 5));
    expect(await take(toCharge(blocking, 'a'), other)).toMatchObject([
      { reason: 'blocked', retryAfterMs: 900_000, remaining: 0 },
      { allowed: true, remaining: 100 },
    ]);
    clock.advance(899_999);
    expect(await takeOne(toCharge(blocking, 'a'))).toMatchObject({ reason: 'blocked', retryAfterMs: 1, nextMs: 1 });
    clock.advance(1);
    expect(await takeOne(toCharge(blocking, 'a'))).toMatchObject({ allowed: true, remaining: 4 });
  });

  test('a block whose clock was set back starts anew, once', async ({ clock, takeOne }) => {
    const blocking = toCharge({ ...five('fixed-window'), block: '1m' }, 'a', 5);
    await takeOne(blocking);
    await takeOne(blocking);
    clock.advance(-3_600_000);
    expect(await takeOne(blocking)).toMatchObject({ reason: 'blocked' });
    clock.advance(59_999);
    expect(await takeOne(blocking)).toMatchObject({ reason: 'blocked' });
    clock.advance(60_000);
    expect(await takeOne(blocking)).toMatchObject({ allowed: true });
  });
}
