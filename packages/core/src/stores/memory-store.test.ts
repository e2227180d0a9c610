import { describe, expect, it, vi } from 'vitest';
import { createClock, describeStore, toCharge } from '../testing/index.ts';
import { memoryStore } from './memory-store.ts';

describeStore({ name: 'memory', create: (now) => memoryStore({ now }) });

const RULE = { limit: 5, window: '1m' } as const;

describe('memoryStore', () => {
  it('answers at once, without a promise', () => {
    expect(memoryStore().take([[toCharge(RULE, 'a')]])).toMatchObject([{ answers: [{ allowed: true, remaining: 4 }] }]);
  });

  it('holds nothing for a look or a denial', () => {
    const store = memoryStore();
    store.take([
      [toCharge(RULE, 'a', 0)],
      [toCharge(RULE, 'b', 6)],
      [toCharge(RULE, 'c'), toCharge({ ...RULE, name: 'x' }, 'c', 6)],
    ]);
    expect(store.size).toBe(0);
  });

  it('stays within maxKeys under a flood of fresh keys, and forgets dead ones first', () => {
    const clock = createClock();
    const store = memoryStore({ now: clock, maxKeys: 1000 });
    for (let i = 0; i < 1000; i++) store.take([[toCharge(RULE, `dead${i}`)]]);
    clock.advance(180_000);
    for (let i = 0; i < 999; i++) store.take([[toCharge(RULE, `live${i}`)]]);
    for (let i = 0; i < 999; i++)
      expect(store.take([[toCharge(RULE, `live${i}`, 0)]])[0]?.answers[0]?.remaining).toBe(4);
    for (let i = 0; i < 100_000; i++) store.take([[toCharge(RULE, `flood${i}`)]]);
    expect(store.size).toBeLessThanOrEqual(1000);
  });

  it('never forgets an exhausted counter: a flood cannot wash out a limit', () => {
    const store = memoryStore({ now: createClock(), maxKeys: 100 });
    store.take([[toCharge(RULE, 'victim', 5)]]);
    for (let i = 0; i < 10_000; i++) store.take([[toCharge(RULE, `flood${i}`)]]);
    expect(store.take([[toCharge(RULE, 'victim')]])).toMatchObject([{ answers: [{ allowed: false }] }]);
  });

  it('lets new callers share one counter when only exhausted ones are left, and says so once', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const store = memoryStore({ now: createClock(), maxKeys: 50 });
    for (let i = 0; i < 50; i++) store.take([[toCharge(RULE, `busy${i}`, 5)]]);
    const fresh = Array.from(
      { length: 20 },
      (_, i) => store.take([[toCharge(RULE, `new${i}`)]])[0]?.answers[0]?.allowed,
    );
    expect(fresh.filter(Boolean)).toHaveLength(5);
    expect(store.size).toBe(50);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('docs/errors.md#memory-store-full'));
    warn.mockRestore();
  });

  it('forgets nobody for a look, a denial or a change, even when it is full', () => {
    const store = memoryStore({ now: createClock(), maxKeys: 3 });
    for (const who of ['a', 'b', 'c']) store.take([[toCharge(RULE, who)]]);
    const stranger = toCharge(RULE, 'stranger');
    store.peek([stranger]);
    store.take([[{ ...stranger, cost: 0 }], [{ ...stranger, cost: 6 }]]);
    for (const kind of ['reset', 'unblock', 'refund'] as const)
      expect(store.adjust([{ kind, charge: stranger, units: 1, at: 0 }])).toEqual([false]);
    for (const who of ['a', 'b', 'c']) expect(store.peek([toCharge(RULE, who, 0)])).toMatchObject([{ remaining: 4 }]);
    expect(store.size).toBe(3);
  });

  it('does not forget one limit of a request for another one', () => {
    const store = memoryStore({ now: createClock(), maxKeys: 2 });
    const admitted = Array.from({ length: 20 }, (_, i) =>
      store.take([[toCharge(RULE, 'user'), toCharge({ limit: 100, window: '1m', name: 'route' }, `r${i}`)]]),
    );
    expect(admitted.filter(([taken]) => taken?.answers.every(({ allowed }) => allowed))).toHaveLength(5);
    expect(store.size).toBeLessThanOrEqual(2);
  });

  it('holds no more than maxKeys, however many limits a request has', () => {
    const store = memoryStore({ now: createClock(), maxKeys: 1 });
    store.take([['a', 'b', 'c', 'd'].map((who) => toCharge(RULE, who))]);
    expect(store.size).toBe(1);
  });

  it('lets nobody reset or block what newcomers share', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const store = memoryStore({ now: createClock(), maxKeys: 2 });
    for (const who of ['a', 'b']) store.take([[toCharge(RULE, who, 5)]]);
    for (let i = 0; i < 5; i++) store.take([[toCharge(RULE, `new${i}`)]]);
    store.adjust([{ kind: 'reset', charge: toCharge(RULE, 'newcomer'), units: 0, at: 0 }]);
    expect(store.take([[toCharge(RULE, 'other')]])).toMatchObject([
      { answers: [{ allowed: false, reason: 'exhausted' }] },
    ]);
    store.adjust([{ kind: 'block', charge: toCharge(RULE, 'newcomer'), units: 1000, at: 0 }]);
    expect(store.take([[toCharge(RULE, 'other')]])).toMatchObject([{ answers: [{ reason: 'exhausted' }] }]);
    warn.mockRestore();
  });

  it('follows a monotonic clock, not the wall clock', () => {
    const store = memoryStore();
    const long = { limit: 5, window: '31d' } as const;
    store.take([[toCharge(long, 'a', 5)]]);
    const wall = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 70 * 86_400_000);
    expect(store.take([[toCharge(long, 'a')]])).toMatchObject([{ answers: [{ allowed: false }] }]);
    wall.mockRestore();
  });
});
