import { describe, expect, test } from 'vitest';
import { Model, type ModelAlgorithm, type ModelAnswer, type ModelRule } from './model.ts';

const W = 60_000;
const start = 100 * W;
const key = 'k';

const rule = (algorithm: ModelAlgorithm, more: Partial<ModelRule> = {}): ModelRule => ({
  algorithm,
  limit: 5,
  windowMs: W,
  burst: more.limit ?? 5,
  maxDelayMs: undefined,
  blockMs: 0,
  ...more,
});

function one(answers: ModelAnswer[]): ModelAnswer {
  const [answer] = answers;
  if (answer === undefined) throw new Error('no answer');
  return answer;
}
const take = (model: Model, use: ModelRule, now: number, cost = 1): ModelAnswer =>
  one(model.take([{ key, rule: use, cost }], now).answers);
const peek = (model: Model, use: ModelRule, now: number, cost = 1): ModelAnswer =>
  one(model.peek([{ key, rule: use, cost }], now));
const takes = (model: Model, use: ModelRule, now: number, times: number): ModelAnswer[] =>
  Array.from({ length: times }, () => take(model, use, now));
const admitted = (answers: ModelAnswer[]): number => answers.filter((answer) => answer.allowed).length;

const ok = { allowed: true, reason: undefined, retryAfterMs: 0, delayMs: 0 };
const exhausted = { allowed: false, reason: 'exhausted', remaining: 0, delayMs: 0 };

const algorithms: ModelAlgorithm[] = ['sliding-window', 'token-bucket', 'leaky-bucket', 'fixed-window', 'sliding-log'];

describe('every algorithm', () => {
  test.each(algorithms)('%s: a charge that does not fit consumes nothing (13)', (algorithm) => {
    const model = new Model();
    expect(take(model, rule(algorithm), start, 3)).toMatchObject({ ...ok, remaining: 2 });
    expect(take(model, rule(algorithm), start, 3)).toMatchObject({ ...exhausted, remaining: 2 });
    expect(take(model, rule(algorithm), start, 2)).toMatchObject({ ...ok, remaining: 0 });
  });

  test.each(algorithms)('%s: cost 0 and peek change nothing and create no key (15, 16)', (algorithm) => {
    const model = new Model();
    const free = { ...ok, remaining: 5, nextMs: 0, resetMs: 0 };
    for (let i = 0; i < 100; i += 1) expect(peek(model, rule(algorithm), start)).toEqual(free);
    expect(take(model, rule(algorithm), start, 0)).toEqual(free);
    expect(model.reset(key)).toBe(false);
    take(model, rule(algorithm), start);
    expect(take(model, rule(algorithm), start, 0)).toMatchObject({ ...ok, remaining: 4 });
    expect(peek(model, rule(algorithm), start, 4)).toMatchObject({ ...ok, remaining: 4 });
    expect(model.reset(key)).toBe(true);
  });

  test.each(algorithms)('%s: the limit may change in between (17)', (algorithm) => {
    const model = new Model();
    expect(admitted(takes(model, rule(algorithm), start, 5))).toBe(5);
    expect(admitted(takes(model, rule(algorithm, { limit: 10 }), start, 7))).toBe(5);
    expect(take(model, rule(algorithm, { limit: 3 }), start)).toMatchObject(exhausted);
    expect(take(model, rule(algorithm, { limit: 3 }), start, 0)).toMatchObject(exhausted);
  });

  test.each(algorithms)('%s: a limit of 0, and a cost above the limit, never pass (19)', (algorithm) => {
    const never = { allowed: false, reason: 'never', nextMs: 0, resetMs: 0, retryAfterMs: Infinity, delayMs: 0 };
    const zero = rule(algorithm, { limit: 0, burst: 5 });
    expect(take(new Model(), zero, start)).toEqual({ ...never, remaining: 0 });
    expect(take(new Model(), zero, start, 0)).toEqual({ ...ok, remaining: 0, nextMs: 0, resetMs: 0 });
    expect(take(new Model(), rule(algorithm), start, 6)).toEqual({ ...never, remaining: 5 });
  });

  test.each(algorithms)('%s: a window of 500 ms (20)', (algorithm) => {
    const model = new Model();
    const short = rule(algorithm, { limit: 2, windowMs: 500 });
    expect(takes(model, short, start, 3).map((answer) => answer.allowed)).toEqual([true, true, false]);
    expect(take(model, short, start + 1000)).toMatchObject({ ...ok, remaining: 1 });
  });

  test.each(algorithms)('%s: passes after retryAfterMs and not 1 ms earlier', (algorithm) => {
    const model = new Model();
    takes(model, rule(algorithm), start + 777, 5);
    const { retryAfterMs } = take(model, rule(algorithm), start + 1234, 2);
    expect(peek(model, rule(algorithm), start + 1234 + retryAfterMs - 1, 2).allowed).toBe(false);
    expect(peek(model, rule(algorithm), start + 1234 + retryAfterMs, 2).allowed).toBe(true);
  });
});

describe('fixed window', () => {
  const fixed = rule('fixed-window');

  test('counts down, denials do not move the reset, then starts again (1, 2, 3)', () => {
    const model = new Model();
    const answers = takes(model, fixed, start + 10_000, 7);
    expect(answers.map((answer) => answer.remaining)).toEqual([4, 3, 2, 1, 0, 0, 0]);
    expect(answers.map((answer) => answer.resetMs)).toEqual(Array.from({ length: 7 }, () => 50_000));
    expect(take(model, fixed, start + 59_999)).toEqual({ ...exhausted, nextMs: 1, resetMs: 1, retryAfterMs: 1 });
    expect(take(model, fixed, start + W + 1)).toEqual({ ...ok, remaining: 4, nextMs: 59_999, resetMs: 59_999 });
  });

  test('refunds only into the window that was charged', () => {
    const model = new Model();
    const charge = { key, rule: fixed, cost: 1 };
    expect(model.refund(charge, 1, start, start)).toBe(false);
    takes(model, fixed, start, 3);
    expect(model.refund(charge, 2, start, start + 59_999)).toBe(true);
    expect(peek(model, fixed, start).remaining).toBe(4);
    expect(model.refund(charge, 1, start, start + W)).toBe(false);
  });
});

describe('sliding window', () => {
  const hundred = rule('sliding-window', { limit: 100 });

  test('no more than 102 in any second around the flip (6)', () => {
    const model = new Model();
    expect(admitted(takes(model, hundred, start + W - 50, 100))).toBe(100);
    let later = 0;
    for (let ms = 10; ms <= 1000; ms += 10) later += admitted(takes(model, hundred, start + W - 50 + ms, 1));
    // At 950 ms of the new window 100 · 59 050 / 60 000 = 98.4 still count.
    expect(later).toBe(1);
  });

  test('half of the window before still counts at 50 % (7)', () => {
    const model = new Model();
    takes(model, hundred, start, 100);
    const answers = takes(model, hundred, start + 1.5 * W, 60);
    expect(admitted(answers)).toBe(50);
    // The next unit is free when 100 · (W − e) / W ≤ 49: 600 ms later. All of it when both windows are over.
    expect(answers.at(-1)).toEqual({ ...exhausted, nextMs: 600, retryAfterMs: 600, resetMs: 1.5 * W });
  });

  test('a wait reaches into the next window', () => {
    const model = new Model();
    takes(model, hundred, start, 100);
    // 100 · (W − e) ≤ 99 · W from e = 600 on.
    expect(take(model, hundred, start + 50_000)).toMatchObject({ retryAfterMs: 10_600, resetMs: 70_000 });
  });

  test('refunds the charged window while it still weighs', () => {
    const model = new Model();
    const charge = { key, rule: hundred, cost: 1 };
    takes(model, hundred, start, 100);
    take(model, hundred, start + 1.5 * W);
    expect(model.refund(charge, 20, start, start + 1.5 * W)).toBe(true);
    expect(peek(model, hundred, start + 1.5 * W).remaining).toBe(100 - 40 - 1);
    expect(model.refund(charge, 20, start, start + 2 * W)).toBe(false);
  });
});

describe('sliding log', () => {
  const log = rule('sliding-log');

  test('counts exactly the last window (5)', () => {
    const model = new Model();
    for (const s of [0, 10, 20, 30, 40]) expect(take(model, log, start + s * 1000)).toMatchObject(ok);
    expect(take(model, log, start + 59_900)).toEqual({ ...exhausted, nextMs: 100, retryAfterMs: 100, resetMs: 40_100 });
    expect(take(model, log, start + 60_100)).toMatchObject({ ...ok, remaining: 0, nextMs: 9900, resetMs: W });
    expect(take(model, log, start + 69_999)).toMatchObject({ ...exhausted, retryAfterMs: 1 });
    expect(take(model, log, start + 70_000)).toMatchObject(ok);
  });

  test('refunds the units of that very moment', () => {
    const model = new Model();
    const charge = { key, rule: log, cost: 2 };
    take(model, log, start, 2);
    take(model, log, start + 1, 2);
    expect(model.refund(charge, 5, start, start + 2)).toBe(true);
    expect(model.refund(charge, 5, start, start + 2)).toBe(false);
    expect(peek(model, log, start + 2).remaining).toBe(3);
  });

  test('debt saturates', () => {
    const model = new Model();
    model.debit({ key, rule: log, cost: 1 }, 2 ** 40, start);
    model.debit({ key, rule: log, cost: 1 }, 5, start + 1);
    expect(peek(model, log, start + 1).resetMs).toBe(W - 1);
  });
});

describe('token bucket', () => {
  const bucket = rule('token-bucket', { limit: 2, windowMs: 1000, burst: 10 });

  test('a burst, then the rate (8)', () => {
    const model = new Model();
    const answers = takes(model, bucket, start, 12);
    expect(admitted(answers)).toBe(10);
    expect(answers.at(-1)).toEqual({ ...exhausted, nextMs: 500, retryAfterMs: 500, resetMs: 5000 });
    expect(takes(model, bucket, start + 1000, 3).map((answer) => answer.allowed)).toEqual([true, true, false]);
  });

  test('an idle hour fills it no higher than its burst (9)', () => {
    const model = new Model();
    takes(model, bucket, start, 12);
    expect(admitted(takes(model, bucket, start + 3_600_000, 12))).toBe(10);
  });

  test('a new limit drains from the moment it is seen', () => {
    const model = new Model();
    takes(model, bucket, start, 10);
    const faster = { ...bucket, limit: 4 };
    expect(peek(model, faster, start + 250).retryAfterMs).toBe(125);
    expect(take(model, faster, start + 250)).toMatchObject({ ...exhausted, retryAfterMs: 125 });
    expect(peek(model, bucket, start + 375).allowed).toBe(true);
  });

  test('refunds nothing that has drained, and debt saturates', () => {
    const model = new Model();
    const charge = { key, rule: bucket, cost: 3 };
    take(model, bucket, start, 10);
    expect(model.refund(charge, 3, start, start + 1000)).toBe(true);
    expect(peek(model, bucket, start + 1000).remaining).toBe(3);
    take(model, bucket, start + 4000, 10);
    expect(model.refund(charge, 3, start, start + 5000)).toBe(false);
    expect(model.debit(charge, 2 ** 52, start + 5000)).toBe(true);
    expect(peek(model, bucket, start + 5000).resetMs).toBe(2 ** 51);
  });
});

describe('leaky bucket', () => {
  test('policing: the second of two calls 50 ms apart (11)', () => {
    const model = new Model();
    const leaky = rule('leaky-bucket', { limit: 10, windowMs: 1000, burst: 1 });
    expect(take(model, leaky, start)).toEqual({ ...ok, remaining: 0, nextMs: 100, resetMs: 100 });
    expect(take(model, leaky, start + 50)).toEqual({ ...exhausted, nextMs: 50, resetMs: 50, retryAfterMs: 50 });
  });

  test('shaping: each waits for those before, and a full queue denies at once (12)', () => {
    const model = new Model();
    const shaping = rule('leaky-bucket', { limit: 10, windowMs: 1000, burst: 3, maxDelayMs: 1000 });
    const answers = takes(model, shaping, start, 4);
    expect(answers.map((answer) => answer.delayMs)).toEqual([0, 100, 200, 0]);
    expect(answers.at(-1)).toEqual({ ...exhausted, nextMs: 100, retryAfterMs: 100, resetMs: 300 });
  });

  test('shaping: nobody waits longer than maxDelayMs', () => {
    const model = new Model();
    const shaping = rule('leaky-bucket', { limit: 10, windowMs: 1000, burst: 10, maxDelayMs: 150 });
    const answers = takes(model, shaping, start, 3);
    expect(answers.map((answer) => answer.allowed)).toEqual([true, true, false]);
    expect(answers.map((answer) => answer.remaining)).toEqual([9, 0, 0]);
    expect(answers.at(-1)).toEqual({ ...exhausted, nextMs: 50, retryAfterMs: 50, resetMs: 200 });
  });
});

describe('clock', () => {
  test('a state up to a window ahead is used as now', () => {
    const model = new Model();
    const log = rule('sliding-log');
    takes(model, log, start, 5);
    expect(take(model, log, start - W)).toEqual({ ...exhausted, nextMs: 2 * W, resetMs: 2 * W, retryAfterMs: 2 * W });
    const fixed = new Model();
    takes(fixed, rule('fixed-window'), start + 30_000, 4);
    expect(fixed.take([{ key, rule: rule('fixed-window'), cost: 1 }], start - 1)).toEqual({
      answers: [{ ...ok, remaining: 0, nextMs: W + 1, resetMs: W + 1 }],
      at: [start],
    });
  });

  test('one further ahead is moved to now, which take remembers and peek does not', () => {
    const bucket = rule('token-bucket');
    const model = new Model();
    takes(model, bucket, start, 5);
    const back = start - W - 1;
    expect(peek(model, bucket, back)).toMatchObject({ ...exhausted, retryAfterMs: 12_000, resetMs: W });
    // Still ahead: by exactly a window now.
    expect(peek(model, bucket, back + 1)).toMatchObject({ ...exhausted, retryAfterMs: 12_000 + W });
    expect(take(model, bucket, back)).toMatchObject({ ...exhausted, retryAfterMs: 12_000 });
    expect(peek(model, bucket, back + 1)).toMatchObject({ ...exhausted, retryAfterMs: 11_999 });
  });

  test.each(algorithms)('%s: no jump locks anyone out for longer than a window', (algorithm) => {
    const model = new Model();
    takes(model, rule(algorithm), start, 5);
    const { retryAfterMs } = take(model, rule(algorithm), start - 3_600_000);
    expect(retryAfterMs).toBeLessThanOrEqual(2 * W);
    expect(take(model, rule(algorithm), start - 3_600_000 + retryAfterMs).allowed).toBe(true);
  });

  test('a block cannot outlast its length', () => {
    const model = new Model();
    model.block(key, 1000, start);
    expect(take(model, rule('fixed-window'), start - W).retryAfterMs).toBe(1000);
    expect(take(model, rule('fixed-window'), start - W + 1000).allowed).toBe(true);
  });
});

describe('blocks and many limits', () => {
  test('a denial blocks, further ones do not extend it', () => {
    const model = new Model();
    const blocking = rule('fixed-window', { blockMs: 90_000 });
    takes(model, blocking, start, 5);
    const block = { ...exhausted, reason: 'blocked' };
    expect(peek(model, blocking, start)).toEqual({ ...block, nextMs: 90_000, resetMs: 90_000, retryAfterMs: 90_000 });
    expect(peek(model, rule('fixed-window'), start).reason).toBe('exhausted');
    expect(take(model, blocking, start).reason).toBe('blocked');
    expect(take(model, blocking, start + W, 0)).toEqual({
      ...block,
      nextMs: 30_000,
      resetMs: 30_000,
      retryAfterMs: 30_000,
    });
    expect(take(model, blocking, start + W, 6)).toMatchObject({ reason: 'never', retryAfterMs: Infinity });
    expect(model.unblock(key, start + W)).toBe(true);
    expect(model.unblock(key, start + W)).toBe(false);
    expect(take(model, blocking, start + W)).toMatchObject(ok);
  });

  test('all are charged or none', () => {
    const model = new Model();
    const fixed = rule('fixed-window');
    const wide = { key: 'wide', rule: rule('fixed-window', { limit: 9 }), cost: 3 };
    const twice = [wide, { key, rule: fixed, cost: 3 }, { key, rule: fixed, cost: 3 }];
    const { answers } = model.take(twice, start);
    expect(answers.map((answer) => answer.allowed)).toEqual([true, true, false]);
    expect(answers.map((answer) => answer.remaining)).toEqual([9, 5, 2]);
    expect(model.take(twice.slice(0, 2), start).answers.map((answer) => answer.remaining)).toEqual([6, 2]);
  });
});
