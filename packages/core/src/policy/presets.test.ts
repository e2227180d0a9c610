import { describe, expect, expectTypeOf, it } from 'vitest';
import type { RequestContext, ResponseFacts } from '../context.ts';
import type { Decision } from '../decision.ts';
import { createLimiter } from '../limiter.ts';
import { memoryStore } from '../stores/memory-store.ts';
import { createClock } from '../testing/index.ts';
import type { Policy } from './policy.ts';
import { auth, type AuthOptions, expensive, read } from './presets.ts';

describe('read', () => {
  it('is 1000 per minute per identity', () => {
    const { name, limits, onStoreFailure } = read();
    expect({ name, onStoreFailure }).toEqual({ name: 'read', onStoreFailure: 'local' });
    expect(limits[0]).toMatchObject({
      per: ['identity'],
      rule: { algorithm: 'sliding-window', limit: 1000, windowMs: 60_000, name: 'read' },
    });
  });

  it('takes other numbers, and everything that is not about limits', () => {
    const policy = read({ name: 'slow', limit: 10, window: '1h', per: 'ip', mode: 'shadow', refundWhen: () => false });
    expect(policy.limits[0]?.rule).toMatchObject({ limit: 10, windowMs: 3_600_000 });
    expect(policy.mode).toBe('shadow');
  });

  it('refuses what it does not know', () => {
    expect(() => read({ limits: [] } as object)).toThrow('read has no option "limits"; did you mean limit?');
  });
});

describe('expensive', () => {
  it('is six requests at once, and then one each ten seconds', () => {
    const clock = createClock();
    const limiter = createLimiter({ store: memoryStore({ now: clock }) });
    const policy = expensive();
    const take = () => limiter.check(contextOf({ user: 'u' }), policy) as Decision;
    expect(Array.from({ length: 7 }, () => take().allowed)).toEqual([true, true, true, true, true, true, false]);
    expect(take().retryAfterMs).toBe(10_000);
    clock.advance(10_000);
    expect([take().allowed, take().allowed]).toEqual([true, false]);
  });

  it('takes other numbers, and refuses a cost that could never pass', () => {
    expect(expensive({ limit: 100, burst: 20, cost: 5 }).limits[0]?.rule).toMatchObject({ limit: 100, burst: 20 });
    expect(() => expensive({ cost: 61 })).toThrow(/61/);
  });
});

describe('auth', () => {
  const attempt = (from: { ip: string; name: string }) => contextOf({ ip: from.ip, raw: { name: from.name } });
  const policy = auth<{ name: string }>({ username: (req) => req.name, success: ({ status }) => status === 200 });
  const ATTACKERS: readonly [string, number, (i: number) => { ip: string; name: string }, number, number][] = [
    ['1 address on 1 name', 60, () => ({ ip: '203.0.113.7', name: 'ada' }), 5, 100],
    ['1 address on 100 names', 200, (i) => ({ ip: '203.0.113.7', name: `u${i % 100}` }), 20, 2500],
    ['100 addresses on 1 name', 200, (i) => ({ ip: `203.0.113.${i % 100}`, name: 'ada' }), 10, 100],
    ['/64s of 1 /48, each on a name', 300, (i) => ({ ip: `2001:db8:9:${i}::1`, name: `u${i}` }), 200, 2500],
    ['spellings of 1 name', 60, (i) => ({ ip: '203.0.113.7', name: i % 2 ? 'ADA ' : 'ada\u200B' }), 5, 100],
  ];

  it.each(ATTACKERS)('%s: a minute of %d attempts', (_, attempts, from, passes) => {
    const limiter = createLimiter({ store: memoryStore({ now: createClock() }) });
    const passed = Array.from({ length: attempts }, (__, i) => limiter.check(attempt(from(i)), policy) as Decision);
    expect(passed.filter(({ allowed }) => allowed)).toHaveLength(passes);
  });

  it.each(ATTACKERS)('%s: a slow day', (_, __, from, ___, most) => {
    const clock = createClock();
    const limiter = createLimiter({ store: memoryStore({ now: clock }) });
    let passed = 0;
    for (let minute = 0; minute < 1440; minute++) {
      for (let i = 0; i < 25; i++) if ((limiter.check(attempt(from(i * 4)), policy) as Decision).allowed) passed++;
      clock.advance(60_000);
    }
    expect(passed).toBe(most);
  });

  it('a log-in forgets the attempts of its address on its name, and no others', async () => {
    const limiter = createLimiter({ store: memoryStore({ now: createClock() }) });
    const remaining: number[][] = [];
    for (const status of [401, 401, 200]) {
      let end: (response: ResponseFacts) => void = () => {};
      const ctx = {
        ...attempt({ ip: '203.0.113.7', name: 'ada' }),
        onFinish: (listener: typeof end) => (end = listener),
      };
      await limiter.check(ctx, policy);
      end({ status, aborted: false } as ResponseFacts);
      remaining.push((limiter.peek(ctx, policy) as Decision).outcomes.map((outcome) => outcome.remaining));
    }
    expect(remaining).toEqual([
      [4, 19, 9, 99],
      [3, 18, 8, 98],
      [5, 17, 7, 97],
    ]);
  });

  it('tells when to come back, and nothing else', () => {
    expect(policy.disclose).toBe('retry-after');
  });

  it.each<[string, object, RegExp]>([
    ['no username', {}, /auth\.username must be a function that tells the name; received undefined/],
    ['a cost', { username: () => 'x', cost: 2 }, /auth has no option "cost"/],
    ['a success that is no function', { username: () => 'x', success: 200 }, /auth\.success must be a function/],
    ['a misspelt option', { username: () => 'x', sucess: () => true }, /did you mean success/],
  ])('refuses %s', (_, options, message) => {
    expect(() => auth(options as AuthOptions)).toThrow(message);
  });

  it("infers the framework's request from where it is used", () => {
    const use = (one: Policy<{ body: { email: string } }>) => one;
    const used = use(
      auth({ username: (req) => (expectTypeOf(req).toEqualTypeOf<{ body: { email: string } }>(), req) }),
    );
    expect(used.name).toBe('auth');
  });
});

function contextOf<R = unknown>(facts: { ip?: string; user?: string; raw?: R }): RequestContext<R> {
  const { ip = '203.0.113.7', user, raw = {} as R } = facts;
  return { method: 'POST', path: '/', route: undefined, header: () => undefined, ip, user, raw, onFinish: () => {} };
}
