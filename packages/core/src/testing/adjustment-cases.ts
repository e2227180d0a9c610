import { expect } from 'vitest';
import { ALGORITHM_NAMES } from '../algorithms/algorithms.ts';
import type { LimitOptions } from '../policy/policy.ts';
import { Deadline } from '../stores/deadline.ts';
import { toCharge } from './charge.ts';
import type { StoreTest } from './describe-store.ts';

function ten(algorithm: LimitOptions['algorithm']): LimitOptions {
  return { algorithm, limit: 10, window: '1m', ...(algorithm === 'leaky-bucket' && { burst: 10 }) } as LimitOptions;
}

/** Changes other than by requests: refunds, debts, resets, blocks; and looks that change nothing. */
export function adjustmentCases(test: StoreTest): void {
  for (const name of ALGORITHM_NAMES) {
    const charge = toCharge(ten(name), 'a', 4);

    test(`${name}: peek tells what take would, and changes nothing`, async ({ peek, take, takeOne }) => {
      for (let i = 0; i < 100; i++)
        expect(await peek(charge)).toMatchObject([{ allowed: true, remaining: 10, resetMs: 0 }]);
      await takeOne({ ...charge, cost: 8 });
      const [looked] = await peek(charge);
      expect(looked).toMatchObject({ allowed: false, remaining: 2 });
      expect(await take(charge)).toEqual([looked]);
    });

    test(`${name}: a refund gives back what was charged, and never more than is used`, async ({
      clock,
      adjust,
      takeOne,
    }) => {
      await takeOne(charge);
      await takeOne(charge);
      expect(await adjust('refund', charge, 4, clock())).toBe(true);
      expect((await takeOne({ ...charge, cost: 0 })).remaining).toBe(6);
      expect(await adjust('refund', charge, 1000, clock())).toBe(true);
      expect((await takeOne({ ...charge, cost: 0 })).remaining).toBe(10);
      expect(await adjust('refund', charge, 1000, clock())).toBe(false);
    });

    test(`${name}: a refund gives back nothing once the charge has passed away, and makes no counter`, async ({
      clock,
      adjust,
      takeOne,
    }) => {
      const at = clock();
      expect(await adjust('refund', charge, 4, at)).toBe(false);
      await takeOne(charge);
      clock.advance(120_000);
      await takeOne({ ...charge, cost: 9 });
      const before = await takeOne({ ...charge, cost: 0 });
      expect(await adjust('refund', charge, 4, at)).toBe(false);
      expect(await takeOne({ ...charge, cost: 0 })).toEqual(before);
    });

    test(`${name}: debt is charged whether it fits or not, and saturates`, async ({ adjust, takeOne }) => {
      await takeOne(charge);
      expect(await adjust('debit', charge, 9)).toBe(true);
      expect(await takeOne(charge)).toMatchObject({ allowed: false, remaining: 0 });
      for (let i = 0; i < 3; i++) expect(await adjust('debit', charge, Number.MAX_SAFE_INTEGER)).toBe(true);
      const { allowed, retryAfterMs } = await takeOne(charge);
      expect(allowed).toBe(false);
      expect(Number.isSafeInteger(retryAfterMs)).toBe(true);
    });

    test(`${name}: reset forgets counter and block`, async ({ adjust, takeOne }) => {
      expect(await adjust('reset', charge)).toBe(false);
      await takeOne(charge);
      await adjust('block', charge, 60_000);
      expect(await takeOne(charge)).toMatchObject({ reason: 'blocked' });
      expect(await adjust('reset', charge)).toBe(true);
      expect(await takeOne({ ...charge, cost: 0 })).toMatchObject({ allowed: true, remaining: 10 });
    });

    test(`${name}: a block bars for its time and leaves the counter alone; unblock ends it`, async ({
      clock,
      adjust,
      takeOne,
    }) => {
      await takeOne(charge);
      expect(await adjust('block', charge, 30_000)).toBe(true);
      expect(await takeOne({ ...charge, cost: 0 })).toMatchObject({
        reason: 'blocked',
        retryAfterMs: 30_000,
        remaining: 0,
      });
      expect(await takeOne({ ...charge, cost: 11 })).toMatchObject({ reason: 'never', retryAfterMs: Infinity });
      expect(await adjust('unblock', charge)).toBe(true);
      expect(await adjust('unblock', charge)).toBe(false);
      expect(await takeOne({ ...charge, cost: 0 })).toMatchObject({ allowed: true, remaining: 6 });
      await adjust('block', charge, 30_000);
      clock.advance(30_000);
      expect((await takeOne({ ...charge, cost: 0 })).allowed).toBe(true);
      expect(await adjust('unblock', charge)).toBe(false);
    });

    test(`${name}: a refund after the clock was set back gives no more than was charged`, async ({
      clock,
      adjust,
      takeOne,
    }) => {
      await takeOne({ ...charge, cost: 1 });
      const at = clock();
      await takeOne(charge);
      clock.advance(-3_600_000);
      await takeOne(charge);
      await adjust('refund', { ...charge, cost: 1 }, 1, at);
      expect((await takeOne({ ...charge, cost: 0 })).remaining).toBeLessThanOrEqual(2);
    });

    test(`${name}: held slow successes cannot bank attempts`, async ({ clock, adjust, takeOne }) => {
      // An hour of attempts that are held open and refunded together must not admit an hour's worth at once.
      const one = { ...charge, cost: 1 };
      const held: number[] = [];
      for (let minute = 0; minute < 60; minute++) {
        for (let i = 0; i < 10; i++) if ((await takeOne(one)).allowed) held.push(clock());
        clock.advance(60_000);
      }
      expect(held.length).toBeGreaterThan(250);
      for (const at of held) await adjust('refund', one, 1, at);
      let passed = 0;
      while ((await takeOne(one)).allowed) passed++;
      expect(passed).toBeLessThanOrEqual(10);
    });
  }

  test('a bucket as large as there can be holds what it was charged', async ({ adjust, takeOne }) => {
    const limit = Math.floor(Number.MAX_SAFE_INTEGER / 2_678_400_000);
    const all = toCharge({ algorithm: 'token-bucket', limit, window: '31d' }, 'a', limit);
    expect(await takeOne(all)).toMatchObject({ allowed: true, remaining: 0 });
    expect(await takeOne({ ...all, cost: 1 })).toMatchObject({ allowed: false, remaining: 0 });
    expect(await adjust('debit', all, 1)).toBe(true);
    expect(await takeOne({ ...all, cost: 0 })).toMatchObject({ remaining: 0 });
  });

  test('peek tells what take would of several limits on one counter whose number changed', async ({
    peek,
    takeOne,
  }) => {
    const by = (limit: number) => toCharge({ algorithm: 'leaky-bucket', limit, window: '1m', burst: 1 }, 'a', 1);
    await takeOne(by(1));
    const looked = await peek({ ...by(2), cost: 9 }, { ...by(0), cost: 0 });
    // With two a minute it is free again in half the time, and the limit of 0 sees it drain as that.
    expect(looked.map(({ resetMs }) => resetMs)).toEqual([30_000, 30_000]);
    expect((await peek({ ...by(0), cost: 0 }))[0]?.resetMs).toBe(60_000);
  });

  test('sliding window: a refund in the next window takes from what the charge still weighs', async ({
    clock,
    adjust,
    takeOne,
  }) => {
    const charge = toCharge(ten('sliding-window'), 'a', 10);
    const at = clock();
    await takeOne(charge);
    clock.advance(60_000);
    expect(await takeOne({ ...charge, cost: 1 })).toMatchObject({ allowed: false });
    expect(await adjust('refund', charge, 4, at)).toBe(true);
    expect(await takeOne({ ...charge, cost: 0 })).toMatchObject({ remaining: 4 });
  });

  test('sliding log: a refund removes its own entry', async ({ clock, adjust, takeOne }) => {
    const charge = toCharge(ten('sliding-log'), 'a', 5);
    const first = clock();
    await takeOne(charge);
    clock.advance(10_000);
    await takeOne(charge);
    await adjust('refund', charge, 5, first);
    expect(await takeOne({ ...charge, cost: 0 })).toMatchObject({ remaining: 5, resetMs: 60_000 });
    expect(await adjust('refund', charge, 5, first)).toBe(false);
  });

  test('a block over a counter that died meanwhile can be lifted', async ({ clock, adjust, takeOne }) => {
    const charge = toCharge(ten('sliding-window'), 'a', 4);
    await takeOne(charge);
    clock.advance(3_600_000);
    expect(await adjust('block', charge, 60_000)).toBe(true);
    expect(await adjust('unblock', charge)).toBe(true);
    expect(await takeOne({ ...charge, cost: 0 })).toMatchObject({ allowed: true, remaining: 10 });
  });

  test('buckets: what of a charge has drained is not given back', async ({ clock, adjust, takeOne }) => {
    const charge = toCharge({ algorithm: 'token-bucket', limit: 5, window: '1m' }, 'a');
    const at = clock();
    await takeOne({ ...charge, cost: 5 });
    clock.advance(59_999);
    expect((await takeOne({ ...charge, cost: 4 })).allowed).toBe(true);
    await adjust('refund', charge, 5, at);
    expect((await takeOne({ ...charge, cost: 0 })).remaining).toBe(1);
  });

  test('changes of several counters are made in one step, in their order', async ({ store, takeOne }) => {
    const [a, b] = [toCharge(ten('token-bucket'), 'a', 4), toCharge(ten('sliding-window'), 'b', 4)];
    await takeOne(a);
    const change = (kind: 'debit' | 'reset' | 'unblock', charge: typeof a, units = 0) => ({
      kind,
      charge,
      units,
      at: 0,
    });
    const changed = await store.adjust(
      [change('debit', a, 1), change('reset', a), change('debit', b, 3), change('unblock', b)],
      new Deadline(5000),
    );
    expect(changed).toEqual([true, true, true, false]);
    expect(await takeOne({ ...a, cost: 0 })).toMatchObject({ remaining: 10 });
    expect(await takeOne({ ...b, cost: 0 })).toMatchObject({ remaining: 7 });
  });
}
