import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Answer } from './algorithms/algorithm.ts';
import type { RequestContext } from './context.ts';
import type { Decision } from './decision.ts';
import { StoreError } from './errors.ts';
import { partition } from './identity/partition.ts';
import { createLimiter, type Limiter, type LimiterOptions } from './limiter.ts';
import { definePolicy } from './policy/define-policy.ts';
import type { PolicyOptions } from './policy/policy.ts';
import { read } from './policy/presets.ts';
import type { Deadline } from './stores/deadline.ts';
import { memoryStore } from './stores/memory-store.ts';
import type { Store } from './stores/store.ts';
import { createClock } from './testing/index.ts';
import type { Warning } from './warnings.ts';

interface Facts {
  readonly method?: string;
  readonly ip?: string | undefined;
  readonly user?: unknown;
  readonly headers?: Record<string, string>;
  readonly raw?: object;
}

function contextOf({ method = 'GET', user, headers = {}, raw = {}, ...rest }: Facts = {}): RequestContext {
  const ip = 'ip' in rest ? rest.ip : '203.0.113.7';
  return { method, path: '/', route: undefined, header: (name) => headers[name], ip, user, raw };
}

function policyOf(limit: number, options: Partial<PolicyOptions> = {}) {
  return definePolicy({ name: 'p', limits: [{ limit, window: '1m' }], ...options });
}

/** A limiter on memory whose warnings are listened to. */
function limiterWith(options: LimiterOptions = {}): { limiter: Limiter; warnings: Warning[] } {
  const warnings: Warning[] = [];
  const store = memoryStore({ now: createClock() });
  return { limiter: createLimiter({ store, onWarning: (warning) => warnings.push(warning), ...options }), warnings };
}

function check(limiter: Limiter, spec: Parameters<Limiter['check']>[1], facts?: Facts): Decision {
  const decision = limiter.check(contextOf(facts), spec);
  return decision as Decision;
}

afterEach(() => vi.restoreAllMocks());

describe('createLimiter', () => {
  it.each([
    [{ store: {} }, 'limiter.store must be a store such as memoryStore() or redisStore(url); received an object'],
    [{ deadline: 0 }, 'limiter.deadline must be a duration from 1 ms to 10000 ms'],
    [{ deadline: '1h' }, 'limiter.deadline must be a duration'],
    [{ identify: 'x' }, 'limiter.identify must be a function; received "x"'],
    [{ onDecision: 1 }, 'limiter.onDecision must be a function; received 1'],
    [{ pepper: 'short-secret' }, 'limiter.pepper must be a string of at least 16 characters; received "a shorter one"'],
    [{ pepper: 5 }, 'limiter.pepper must be'],
    [{ sotre: {} }, 'limiter has no option "sotre"; did you mean store?'],
  ])('refuses %o', (options, message) => {
    expect(() => createLimiter(options as LimiterOptions)).toThrow(message);
  });

  it('never repeats a pepper in an error', () => {
    expect(() => createLimiter({ pepper: 'short-secret' })).not.toThrow('short-secret');
  });

  it.each([undefined, null, 5, 'read', {}, [{}], [undefined]])('refuses %o in place of a policy', (spec) => {
    expect(() => createLimiter().register(spec as never)).toThrow(
      'policy must be a policy made by definePolicy() or a preset',
    );
  });

  it('takes a policy name for one shape of limits', () => {
    const { limiter } = limiterWith();
    limiter.register([read(), read()]);
    expect(() => limiter.register(read({ limit: 5 }))).toThrow('Two policies are named "read"');
  });
});

describe('check', () => {
  it('decides at once in memory', () => {
    const { limiter } = limiterWith();
    expect(limiter.check(contextOf(), policyOf(5))).toMatchObject({
      allowed: true,
      source: 'store',
      binding: { name: 'p', limit: 5, remaining: 4 },
      identity: { kind: 'ip+ua', verified: false },
    });
  });

  it('decides several policies together: all are charged, or none', () => {
    const { limiter } = limiterWith();
    const policies = [policyOf(1, { name: 'tight' }), policyOf(5, { name: 'wide' })];
    expect(check(limiter, policies)).toMatchObject({ allowed: true, binding: { name: 'tight' } });
    const denied = check(limiter, policies);
    expect(denied).toMatchObject({ allowed: false, binding: { name: 'tight' } });
    expect(
      denied.outcomes.filter(({ disclosed }) => disclosed).map(({ name, remaining }) => [name, remaining]),
    ).toEqual([
      ['tight', 0],
      ['wide', 4],
    ]);
  });

  it('asks a chooser, and counts nothing when it says false', async () => {
    const { limiter } = limiterWith();
    const policy = policyOf(5);
    expect(check(limiter, () => policy)).toMatchObject({ binding: { remaining: 4 } });
    expect(check(limiter, () => false)).toBeUndefined();
    expect(check(limiter, () => [])).toBeUndefined();
    expect(await limiter.check(contextOf(), () => Promise.resolve(policy))).toMatchObject({
      binding: { remaining: 3 },
    });
  });

  it('charges a policy once per request, in whatever way it is asked for again', () => {
    const { limiter } = limiterWith();
    const [policy, other] = [policyOf(5), policyOf(5, { name: 'other' })];
    const raw = {};
    expect(check(limiter, [policy, policy], { raw }).outcomes.filter(({ disclosed }) => disclosed)).toHaveLength(1);
    expect(check(limiter, policy, { raw })).toBeUndefined();
    expect(check(limiter, [policy, other], { raw })).toMatchObject({ binding: { name: 'other' } });
    expect(check(limiter, policy)).toMatchObject({ binding: { remaining: 3 } });
  });

  it('does not count a preflight, and counts any other OPTIONS', () => {
    const { limiter } = limiterWith();
    const preflight = { 'origin': 'https://a.example', 'access-control-request-method': 'GET' };
    expect(check(limiter, policyOf(5), { method: 'OPTIONS', headers: preflight })).toBeUndefined();
    expect(check(limiter, policyOf(5), { method: 'GET', headers: preflight })).toMatchObject({ allowed: true });
    expect(check(limiter, policyOf(5), { method: 'OPTIONS' })).toMatchObject({ allowed: true });
  });

  it('skips what skip says, now or later, and counts when it fails', async () => {
    const { limiter, warnings } = limiterWith();
    expect(check(limiter, policyOf(5, { skip: () => true }))).toBeUndefined();
    expect(await limiter.check(contextOf(), policyOf(5, { skip: () => Promise.resolve(true) }))).toBeUndefined();
    expect(check(limiter, policyOf(5, { skip: () => 'yes' as never }))).toMatchObject({ allowed: true });
    const failing = [
      () => {
        throw new Error('no');
      },
      () => Promise.reject(new Error('no')),
    ];
    for (const skip of failing)
      expect(await limiter.check(contextOf(), policyOf(5, { skip }))).toMatchObject({ allowed: true });
    expect(warnings).toEqual([{ code: 'resolver-failed', message: 'skip failed: no' }]);
  });

  it('asks identify first, and goes on along the chain when it has no answer', async () => {
    const answers: Record<string, () => unknown> = {
      sync: () => ({ id: 'sync' }),
      late: () => Promise.resolve({ id: 'late' }),
      unverified: () => ({ id: 'claimed', verified: false }),
      none: () => undefined,
      empty: () => ({ id: '' }),
      object: () => ({ id: {} }),
      throws: () => {
        throw new Error('no');
      },
      rejects: () => Promise.reject(new Error('no')),
    };
    const seen: Record<string, string> = {};
    for (const [name, identify] of Object.entries(answers)) {
      const { limiter } = limiterWith({ identify: identify as never });
      const decision = await limiter.check(contextOf(), policyOf(5));
      seen[name] = `${decision?.identity.kind} ${decision?.outcomes.length}`;
    }
    // Two outcomes: the limit and its backstop. A verified user has no need of one.
    expect(seen).toEqual({
      sync: 'user 1',
      late: 'user 1',
      unverified: 'user 2',
      none: 'ip+ua 2',
      empty: 'ip+ua 2',
      object: 'ip+ua 2',
      throws: 'ip+ua 2',
      rejects: 'ip+ua 2',
    });
  });

  it('bounds what one address can do with fresh identities', () => {
    const { limiter } = limiterWith();
    const policy = policyOf(2, { backstop: 3 });
    let fresh = 0;
    const as = (headers: () => Record<string, string>, ip: () => string) =>
      Array.from({ length: 20 }, () => check(limiter, policy, { headers: headers(), ip: ip() }).allowed).filter(Boolean)
        .length;
    expect(
      as(
        () => ({ 'x-api-key': `k${fresh++}` }),
        () => '203.0.113.1',
      ),
    ).toBe(6);
    expect(
      as(
        () => ({ 'user-agent': `a${fresh++}` }),
        () => '203.0.113.2',
      ),
    ).toBe(6);
    expect(
      as(
        () => ({ authorization: `Bearer t${fresh++}` }),
        () => `203.0.113.3:${40_000 + fresh}`,
      ),
    ).toBe(6);
    expect(
      as(
        () => ({}),
        () => `2001:db8:3:${(fresh++).toString(16)}::1`,
      ),
    ).toBe(6);
    expect(
      as(
        () => ({}),
        () => `2001:db8:4:1::${(fresh++).toString(16)}`,
      ),
    ).toBe(2);
  });

  it('an unusable cost is charged as the whole limit, never as nothing', async () => {
    const costs: unknown[] = [
      Number.NaN,
      -1,
      0.5,
      Infinity,
      '1',
      null,
      undefined,
      {},
      Promise.resolve(Number.NaN),
      Promise.reject(new Error('no')),
    ];
    for (const cost of costs) {
      const { limiter, warnings } = limiterWith();
      const policy = policyOf(5, { cost: () => cost as number });
      const decisions = [await limiter.check(contextOf(), policy), await limiter.check(contextOf(), policy)];
      expect(decisions.map((decision) => decision?.allowed)).toEqual([true, false]);
      expect(warnings.map(({ code }) => code)).toEqual(['cost-unusable']);
    }
    const { limiter } = limiterWith();
    const throwing = policyOf(5, {
      cost: () => {
        throw new Error('no');
      },
    });
    expect(check(limiter, throwing)).toMatchObject({ binding: { remaining: 0 } });
  });

  it('asks a cost once per request, and takes 0 for a look', () => {
    const { limiter } = limiterWith();
    const cost = vi.fn<() => number>(() => 0);
    expect(check(limiter, policyOf(5, { cost }))).toMatchObject({ allowed: true, binding: { remaining: 5 } });
    expect(cost).toHaveBeenCalledTimes(1);
  });

  it('drops a limit whose partition has no value, but never the whole policy', () => {
    const { limiter, warnings } = limiterWith();
    const username = partition('username', () => undefined);
    const both = definePolicy({
      name: 'login',
      limits: [
        { limit: 2, window: '1m', per: username },
        { limit: 5, window: '1m', per: 'ip' },
      ],
    });
    expect(check(limiter, both).outcomes.map(({ name }) => name)).toEqual(['login-ip-1m']);
    const alone = definePolicy({ name: 'alone', limits: [{ limit: 2, window: '1m', per: username }] });
    expect([1, 2, 3].map(() => check(limiter, alone).allowed)).toEqual([true, true, false]);
    expect(check(limiter, alone, { ip: '203.0.113.8' }).allowed).toBe(true);
    expect(warnings.map(({ code }) => code)).toEqual(['partition-unresolved']);
  });

  it('a limit per user does not count those who have none', () => {
    const { limiter, warnings } = limiterWith();
    const perUser = policyOf(1, { limits: [{ limit: 1, window: '1m', per: 'user' }] });
    expect(check(limiter, perUser)).toBeUndefined();
    expect(check(limiter, perUser, { user: 'bob' })).toMatchObject({ allowed: true, identity: { token: 'u.bob' } });
    expect(warnings).toEqual([]);
  });

  it('clients without an address share one counter, and somebody is told', () => {
    const { limiter, warnings } = limiterWith();
    const policy = policyOf(2, { limits: [{ limit: 2, window: '1m', per: 'ip' }] });
    expect([undefined, 'garbage', ''].map((ip) => check(limiter, policy, { ip }).allowed)).toEqual([true, true, false]);
    expect(warnings.map(({ code }) => code)).toEqual(['client-address-unknown']);
  });

  it('survives listeners that throw', () => {
    const onDecision = vi.fn<() => void>(() => {
      throw new Error('listener');
    });
    const limiter = createLimiter({
      onDecision,
      onWarning: () => {
        throw new Error('listener');
      },
    });
    expect(check(limiter, policyOf(5), { ip: 'garbage' })).toMatchObject({ allowed: true });
    expect(onDecision).toHaveBeenCalledTimes(1);
  });
});

describe('a store that does not answer', () => {
  const never = (): Promise<never> => new Promise(() => {});

  function storeOf(take: Store['take'], deadlineMs = 20): Store {
    return { name: 'test', deadlineMs, take };
  }

  it.each([
    ['hangs', never],
    ['rejects', () => Promise.reject(new StoreError('failed', 'no'))],
    [
      'throws',
      () => {
        throw new StoreError('unavailable', 'no');
      },
    ],
  ] as const)('that %s: each policy answers by its own failure mode', async (_, take) => {
    const { limiter, warnings } = limiterWith({ store: storeOf(take) });
    const ask = (limit: number, onStoreFailure: PolicyOptions['onStoreFailure'] & string, name: string) =>
      limiter.check(contextOf(), policyOf(limit, { onStoreFailure, name }));
    const locals = [await ask(8, 'local', 'l'), await ask(8, 'local', 'l'), await ask(8, 'local', 'l')];
    expect(locals.map((decision) => [decision?.allowed, decision?.source])).toEqual([
      [true, 'local'],
      [true, 'local'],
      [false, 'local'],
    ]);
    expect(await ask(1, 'open', 'o')).toMatchObject({ allowed: true, source: 'open', outcomes: [] });
    expect(await ask(1, 'closed', 'c')).toMatchObject({ allowed: false, source: 'closed', retryAfterMs: undefined });
    expect(warnings.map(({ code }) => code)).toEqual(['store-degraded']);
  });

  it('decides together what fails differently: closed refuses and charges nothing, open adds nothing', async () => {
    const { limiter } = limiterWith({ store: storeOf(never, 1) });
    const local = policyOf(4, { name: 'local' });
    const open = policyOf(1, { name: 'open', onStoreFailure: 'open' });
    const closed = policyOf(1, { name: 'closed', onStoreFailure: 'closed' });
    expect(await limiter.check(contextOf(), [local, closed])).toMatchObject({ allowed: false, source: 'closed' });
    expect(await limiter.check(contextOf(), [local, open])).toMatchObject({ allowed: true, source: 'local' });
    expect(await limiter.check(contextOf(), [local, open])).toMatchObject({ allowed: false, source: 'local' });
  });

  it('reports the outage and the recovery once each, and ignores what comes late', async () => {
    let deadline: Deadline | undefined;
    let answerLate: (answers: Answer[][]) => void = () => {};
    const answer: Answer = {
      allowed: false,
      reason: 'exhausted',
      remaining: 0,
      nextMs: 1,
      resetMs: 1,
      retryAfterMs: 1,
    };
    let up = false;
    const store = storeOf(([charges = []], given) => {
      deadline = given;
      const answers = [charges.map(() => answer)];
      return up ? answers : new Promise<Answer[][]>((resolve) => void (answerLate = () => resolve(answers)));
    });
    const { limiter, warnings } = limiterWith({ store });
    for (let i = 0; i < 3; i++)
      expect(await limiter.check(contextOf(), policyOf(100))).toMatchObject({ source: 'local' });
    expect(deadline?.expired).toBe(true);
    answerLate([]);
    up = true;
    expect(check(limiter, policyOf(100))).toMatchObject({ source: 'store', allowed: false });
    expect(warnings.map(({ code }) => code)).toEqual(['store-degraded', 'store-recovered']);
  });

  it("a shorter deadline of the limiter wins over the store's own", async () => {
    const { limiter } = limiterWith({ store: storeOf(never, 60_000), deadline: '5ms' });
    expect(await limiter.check(contextOf(), policyOf(100))).toMatchObject({ source: 'local' });
  });
});
