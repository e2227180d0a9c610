import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Answer } from './algorithms/algorithm.ts';
import type { RequestContext, ResponseFacts } from './context.ts';
import type { Decision } from './decision.ts';
import { StoreError } from './errors.ts';
import { partition } from './identity/partition.ts';
import { username } from './identity/username.ts';
import { createLimiter, type Limiter } from './limiter.ts';
import type { LimiterOptions } from './limiter-options.ts';
import { definePolicy } from './policy/define-policy.ts';
import type { PolicyOptions } from './policy/policy.ts';
import { read } from './policy/presets.ts';
import { byTier } from './policy/tiers.ts';
import type { Deadline } from './stores/deadline.ts';
import { memoryStore } from './stores/memory-store.ts';
import type { Store, Taken } from './stores/store.ts';
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
    const empty = { ...preflight, 'content-length': '0' };
    expect(check(limiter, policyOf(5), { method: 'OPTIONS', headers: empty })).toBeUndefined();
    // With a body it is an attempt at a handler of all methods.
    const bodies = [
      { 'content-length': '5' },
      { 'transfer-encoding': 'chunked' },
      { 'content-type': 'application/json' },
    ];
    for (const body of bodies) {
      expect(check(limiter, policyOf(5), { method: 'OPTIONS', headers: { ...preflight, ...body } })).toBeDefined();
    }
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
    // What an error says may quote the client: it is handed over, and never printed.
    expect(warnings).toEqual([{ code: 'resolver-failed', message: 'skip failed with Error.', cause: new Error('no') }]);
  });

  it('asks identify first, and goes on along the chain when it has no answer', async () => {
    const answers: Record<string, () => unknown> = {
      sync: () => ({ id: 'sync' }),
      late: () => Promise.resolve({ id: 'late' }),
      unverified: () => ({ id: 'claimed', verified: false }),
      none: () => undefined,
      plain: () => 'plain',
      number: () => 7,
      nothing: () => null,
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
      plain: 'user 1',
      number: 'user 1',
      nothing: 'ip+ua 2',
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
      -Infinity,
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
      // A rejection is told of as well, with its own message.
      expect(warnings.map(({ code }) => code).filter((code) => code !== 'resolver-failed')).toEqual(['cost-unusable']);
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
    const nobody = partition('username', () => undefined);
    const both = definePolicy({
      name: 'login',
      limits: [
        { limit: 2, window: '1m', per: nobody },
        { limit: 5, window: '1m', per: 'ip' },
      ],
    });
    expect(check(limiter, both).outcomes.map(({ name }) => name)).toEqual(['login-ip-1m']);
    const alone = definePolicy({ name: 'alone', limits: [{ limit: 2, window: '1m', per: nobody }] });
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

  it('knows the address of a client that hangs up while the application is asked who it is', async () => {
    const ctx = { ...contextOf(), ip: '203.0.113.7' as string | undefined };
    const { limiter, warnings } = limiterWith({
      identify: async () => {
        ctx.ip = undefined;
        return undefined;
      },
    });
    const decision = await limiter.check(ctx, policyOf(5));
    expect(decision?.identity.token).toMatch(/^203\.0\.113\.7,/);
    expect(warnings).toEqual([]);
  });

  it('asks who it is about once per request, in however many limits', () => {
    const { limiter } = limiterWith();
    const tenant = vi.fn<() => string>(() => 'acme');
    const per = partition('tenant', tenant);
    check(limiter, policyOf(5, { limits: [1, 2, 3].map((limit) => ({ limit, window: `${limit}m`, per }) as const) }));
    expect(tenant).toHaveBeenCalledTimes(1);
  });

  it('clients without an address share one counter, and somebody is told', () => {
    const { limiter, warnings } = limiterWith();
    const policy = policyOf(2, { limits: [{ limit: 2, window: '1m', per: 'ip' }] });
    expect([undefined, 'garbage', ''].map((ip) => check(limiter, policy, { ip }).allowed)).toEqual([true, true, false]);
    expect(warnings.map(({ code }) => code)).toEqual(['client-address-unknown']);
  });

  it('survives listeners that throw or reject', async () => {
    const rejecting = async (): Promise<void> => {
      throw new Error('listener');
    };
    const limiter = createLimiter({ onDecision: rejecting, onWarning: rejecting });
    expect(check(limiter, policyOf(5), { ip: 'garbage' })).toMatchObject({ allowed: true });
    // An unhandled rejection would fail the run.
    await new Promise((resolve) => setImmediate(resolve));
  });

  it('survives facts that are not what they should be', async () => {
    const odd: unknown[] = [null, 5, {}, [], Promise.resolve('1.2.3.4'), 'x'.repeat(10_000)];
    const { limiter } = limiterWith();
    for (const ip of odd) expect(check(limiter, policyOf(100), { ip: ip as string }).identity.token).toBe('unknown');
    const throwing = {
      get ip(): string {
        throw new Error('no');
      },
      get user(): unknown {
        throw new Error('no');
      },
    };
    const ctx: RequestContext = Object.defineProperties(contextOf(), Object.getOwnPropertyDescriptors(throwing));
    expect(await limiter.check(ctx, policyOf(100))).toMatchObject({ allowed: true, identity: { kind: 'ip+ua' } });
    const user = {
      get id(): string {
        throw new Error('no');
      },
    };
    expect(check(limiter, policyOf(100), { user })).toMatchObject({ identity: { kind: 'ip+ua' } });
  });

  it.each([2 ** 53, 1e18, Infinity])('a cost of %d is above any limit: it never passes', async (cost) => {
    for (const answer of [cost, Promise.resolve(cost)]) {
      const { limiter, warnings } = limiterWith();
      const policy = policyOf(5, { cost: () => answer });
      expect(await limiter.check(contextOf(), policy)).toMatchObject({ allowed: false, retryAfterMs: Infinity });
      expect(warnings).toEqual([]);
    }
  });

  it('an unusable cost of one caller does not use up what others share', () => {
    const { limiter } = limiterWith();
    const policy = policyOf(5, { cost: (_, ctx) => (ctx.header('x-api-key') === 'evil' ? Number.NaN : 1) });
    const as = (key: string) => check(limiter, policy, { headers: { 'x-api-key': key } }).allowed;
    expect([as('evil'), as('evil'), as('good-1'), as('good-2')]).toEqual([true, false, true, true]);
  });

  it('forgets policies that are made for one request', () => {
    const { limiter, warnings } = limiterWith();
    for (let i = 0; i < 3; i++) expect(check(limiter, () => policyOf(5 + i))).toMatchObject({ allowed: true });
    // Different limits under one name are worth a warning, not a failed request.
    expect(warnings.map(({ code }) => code)).toEqual(['policy-name-conflict']);
    // The page is added where it is printed.
    expect(warnings[0]?.message).not.toContain('docs/errors.md');
  });

  it('says what an adapter has to say as its own warnings, once', () => {
    const { limiter, warnings } = limiterWith();
    limiter.warn('guard-order', 'One runs before the other.');
    limiter.warn('guard-order', 'One runs before the other.');
    expect(warnings).toEqual([{ code: 'guard-order', message: 'One runs before the other.' }]);
    expect(limiter.warnings.get('guard-order')).toBe(2);
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
  const ALLOWED: Answer = {
    allowed: true,
    reason: undefined,
    remaining: 9,
    nextMs: 1,
    resetMs: 1,
    retryAfterMs: 0,
    delayMs: 0,
  };
  const never = (): Promise<never> => new Promise(() => {});

  function storeOf(take: Store['take'], deadlineMs = 20): Store {
    return { name: 'test', deadlineMs, take, peek: () => [], adjust: () => [] };
  }

  it.each([
    ['hangs', never],
    ['rejects', () => Promise.reject(new StoreError('refused', 'no'))],
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

  it('is not asked any more after five failures, but for a probe', async () => {
    let asked = 0;
    let isUp = false;
    const store = storeOf(([charges = []]) => {
      asked++;
      const answer = { ...ALLOWED };
      return isUp ? [{ answers: charges.map(() => answer), at: charges.map(() => 0) }] : never();
    }, 5);
    const { limiter } = limiterWith({ store });
    const ask = () => limiter.check(contextOf(), policyOf(100));
    for (let i = 0; i < 5; i++) await ask();
    for (let i = 0; i < 50; i++) expect(await ask()).toMatchObject({ source: 'local' });
    expect(asked).toBe(5);
    isUp = true;
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await ask()).toMatchObject({ source: 'store' });
    expect(asked).toBe(6);
  });

  it('is owed an answer by no more than 1000 calls, which is what may count when it goes on', async () => {
    let asked = 0;
    const store = storeOf(() => {
      asked++;
      return never();
    }, 50);
    const { limiter } = limiterWith({ store });
    await Promise.all(Array.from({ length: 1500 }, async () => limiter.check(contextOf(), policyOf(100_000))));
    expect(asked).toBe(1000);
  });

  it('decides any number of requests at once, as long as it answers', async () => {
    const store = storeOf(async ([charges = []]) => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      return [{ answers: charges.map(() => ALLOWED), at: charges.map(() => 0) }];
    }, 5000);
    const { limiter, warnings } = limiterWith({ store });
    const ask = async () => limiter.check(contextOf(), policyOf(100_000));
    const decisions = await Promise.all(Array.from({ length: 3500 }, ask));
    expect(new Set(decisions.map((decision) => decision?.source))).toEqual(new Set(['store']));
    expect(warnings).toEqual([]);
  });

  it('that cannot decide one request is asked about the next one, and that is said once', async () => {
    let asked = 0;
    const store = storeOf(() => {
      asked++;
      return Promise.reject(new StoreError('failed', 'odd'));
    });
    const { limiter, warnings } = limiterWith({ store });
    for (let i = 0; i < 19; i++)
      expect(await limiter.check(contextOf(), policyOf(100))).toMatchObject({ source: 'local' });
    expect(asked).toBe(19);
    expect(warnings.map(({ code }) => code)).toEqual(['store-failed']);
    expect(limiter.warnings.get('store-failed')).toBe(19);
    // Twenty in a row are no matter of single requests.
    await limiter.check(contextOf(), policyOf(100));
    expect(warnings.map(({ code }) => code)).toEqual(['store-failed', 'store-degraded']);
  });

  it('that only refuses to change counters goes on deciding, and that is told', async () => {
    const store: Store = {
      ...storeOf(async ([charges = []]) => [{ answers: charges.map(() => ALLOWED), at: charges.map(() => 0) }]),
      adjust: () => Promise.reject(new StoreError('misconfigured', 'NOPERM')),
    };
    const { limiter, warnings } = limiterWith({ store });
    await expect(limiter.reset(contextOf(), policyOf(5))).rejects.toThrow('NOPERM');
    expect(await limiter.check(contextOf(), policyOf(5))).toMatchObject({ source: 'store' });
    expect(warnings.map(({ code }) => code)).toEqual(['store-misconfigured']);
  });

  it('owes nothing any more once it answers again', async () => {
    let isUp = true;
    const store = storeOf(
      ([charges = []]) =>
        isUp ? Promise.resolve([{ answers: charges.map(() => ALLOWED), at: charges.map(() => 0) }]) : never(),
      5,
    );
    const { limiter } = limiterWith({ store });
    const ask = async () => limiter.check(contextOf(), policyOf(100_000));
    for (let outage = 0; outage < 3; outage++) {
      isUp = false;
      await Promise.all(Array.from({ length: 400 }, ask));
      isUp = true;
      await vi.waitFor(async () => expect(await ask()).toMatchObject({ source: 'store' }), { timeout: 3000 });
    }
    expect(await ask()).toMatchObject({ source: 'store' });
  });

  it('that was closed says nothing of it', async () => {
    const { limiter, warnings } = limiterWith({
      store: storeOf(() => Promise.reject(new StoreError('refused', 'no'))),
    });
    await limiter.close();
    await limiter.check(contextOf(), policyOf(5));
    expect(warnings).toEqual([]);
  });

  it('has recovered when it has decided for two seconds, however rarely it is asked', async () => {
    let isUp = false;
    const store = storeOf(([charges = []]) =>
      isUp
        ? [{ answers: charges.map(() => ALLOWED), at: charges.map(() => 0) }]
        : Promise.reject(new StoreError('lost', 'no')),
    );
    const { limiter, warnings } = limiterWith({ store });
    let now = performance.now();
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    for (const up of [false, true, false, true, false, true]) {
      isUp = up;
      now += 2500;
      await limiter.check(contextOf(), policyOf(100));
    }
    expect(warnings.map(({ code }) => code)).toEqual(['store-degraded']);
    now += 2500;
    await limiter.check(contextOf(), policyOf(100));
    expect(warnings.map(({ code }) => code)).toEqual(['store-degraded', 'store-recovered']);
  });

  it('that is set up wrongly says so, and is left in peace', async () => {
    let asked = 0;
    const store = storeOf(() => {
      asked++;
      return Promise.reject(new StoreError('misconfigured', 'NOAUTH'));
    });
    const { limiter, warnings } = limiterWith({ store });
    for (let i = 0; i < 20; i++) await limiter.check(contextOf(), policyOf(100));
    expect(asked).toBe(1);
    expect(warnings.map(({ code }) => code)).toEqual(['store-misconfigured', 'store-degraded']);
  });

  it('a policy that does not apply to the request has no say', async () => {
    const { limiter } = limiterWith({ store: storeOf(never, 1) });
    const perUser = policyOf(1, {
      name: 'u',
      limits: [{ limit: 1, window: '1m', per: 'user' }],
      onStoreFailure: 'closed',
    });
    expect(await limiter.check(contextOf(), [policyOf(8), perUser])).toMatchObject({ allowed: true, source: 'local' });
    expect(await limiter.check(contextOf({ user: 'bob' }), [policyOf(8), perUser])).toMatchObject({ source: 'closed' });
  });

  it('a cost that never fits does not fit the local share either', async () => {
    const { limiter } = limiterWith({ store: storeOf(never, 1) });
    expect(await limiter.check(contextOf(), policyOf(20, { cost: () => 30 }))).toMatchObject({
      allowed: false,
      binding: { reason: 'never' },
    });
  });

  it.each([100, 60, 40, 0, 500])('a settled cost of %i is no debt that nobody owes', async (actual) => {
    const { limiter } = limiterWith({ store: storeOf(never, 1) });
    const policy = policyOf(100, {
      limits: [{ limit: 100, window: '1m', per: 'ip', algorithm: 'token-bucket' }],
      cost: () => 100,
    });
    const decision = await limiter.check(contextOf(), policy);
    await decision?.settle(actual);
    const after = await limiter.check(
      contextOf(),
      policyOf(100, { limits: [{ limit: 100, window: '1m', per: 'ip', algorithm: 'token-bucket' }], cost: () => 0 }),
    );
    expect(after?.binding?.remaining).toBe(25 - Math.min(actual, 25));
  });

  it('a cost that fits the limit fits its local share', async () => {
    const { limiter } = limiterWith({ store: storeOf(never, 1) });
    const policy = policyOf(20, { cost: () => 10 });
    expect(await limiter.check(contextOf(), policy)).toMatchObject({ allowed: true, source: 'local' });
    expect(await limiter.check(contextOf(), policy)).toMatchObject({
      allowed: false,
      binding: { reason: 'exhausted' },
    });
  });

  it.each([undefined, null, [], [{}], [{ answers: [] }], 'junk', 5])('that answers %o has failed', async (junk) => {
    for (const answer of [junk, Promise.resolve(junk)]) {
      const { limiter } = limiterWith({ store: storeOf(() => answer as never) });
      expect(await limiter.check(contextOf(), policyOf(8))).toMatchObject({ source: 'local' });
    }
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
    let answerLate: (answers: Taken[]) => void = () => {};
    const answer: Answer = { ...ALLOWED, allowed: false, reason: 'exhausted', remaining: 0, retryAfterMs: 1 };
    let up = false;
    const store = storeOf(([charges = []], given) => {
      deadline = given;
      const answers: Taken[] = [{ answers: charges.map(() => answer), at: charges.map(() => 0) }];
      return up ? answers : new Promise<Taken[]>((resolve) => void (answerLate = () => resolve(answers)));
    });
    const { limiter, warnings } = limiterWith({ store });
    for (let i = 0; i < 3; i++)
      expect(await limiter.check(contextOf(), policyOf(100))).toMatchObject({ source: 'local' });
    expect(deadline?.expired).toBe(true);
    answerLate([]);
    up = true;
    expect(check(limiter, policyOf(100))).toMatchObject({ source: 'store', allowed: false });
    // Recovered is what has answered for two seconds: a store that flaps is one outage.
    expect(warnings.map(({ code }) => code)).toEqual(['store-degraded']);
    const later = performance.now() + 2000;
    vi.spyOn(performance, 'now').mockReturnValue(later);
    for (let i = 0; i < 3; i++) check(limiter, policyOf(100));
    expect(warnings.map(({ code }) => code)).toEqual(['store-degraded', 'store-recovered']);
  });

  it("a shorter deadline of the limiter wins over the store's own", async () => {
    const { limiter } = limiterWith({ store: storeOf(never, 60_000), deadline: '5ms' });
    expect(await limiter.check(contextOf(), policyOf(100))).toMatchObject({ source: 'local' });
  });
});

describe('limits that a request tells', () => {
  const tiers = byTier({ free: 2, pro: 5, enterprise: 100 });
  const tiered = definePolicy({ name: 'api', limits: [{ limit: tiers, window: '1m', per: 'ip' }] });
  const tierOf = (tier: unknown) => ({ tier: () => tier as string });

  it("are the caller's tier's, now or later", async () => {
    for (const tier of ['pro', Promise.resolve('pro')]) {
      const { limiter } = limiterWith(tierOf(tier));
      expect(await limiter.check(contextOf(), tiered)).toMatchObject({ binding: { limit: 5, remaining: 4 } });
    }
  });

  it('are the lowest where the tier is unknown, which is said', async () => {
    for (const tier of [undefined, null, 'gold', 'constructor', '__proto__', 5, Promise.reject(new Error('no'))]) {
      const { limiter, warnings } = limiterWith(tierOf(tier));
      expect(await limiter.check(contextOf(), tiered)).toMatchObject({ binding: { limit: 2 } });
      expect(warnings.map(({ code }) => code)).toContain('tier-unknown');
    }
  });

  it('change at once with the tier, without a second budget', () => {
    let tier = 'free';
    const { limiter } = limiterWith({ tier: () => tier });
    expect([1, 2, 3].map(() => check(limiter, tiered).allowed)).toEqual([true, true, false]);
    tier = 'pro';
    expect([1, 2, 3, 4].map(() => check(limiter, tiered).allowed)).toEqual([true, true, true, false]);
    tier = 'free';
    expect(check(limiter, tiered)).toMatchObject({ allowed: false, binding: { limit: 2, remaining: 0 } });
  });

  it('need a limiter that can tell the tier', () => {
    expect(() => createLimiter().register(tiered)).toThrow(
      'limiter.tier must be a function, since policy "api" has limits by tier; received undefined.',
    );
  });

  it('may come from a function, asked once per request, and widen the backstop with them', () => {
    const limit = vi.fn<() => number>(() => 3);
    const { limiter } = limiterWith();
    const policy = definePolicy({
      name: 'p',
      limits: [
        { limit, window: '1m' },
        { limit, window: '1h' },
      ],
      backstop: 4,
    });
    expect(check(limiter, policy).outcomes.map((outcome) => outcome.limit)).toEqual([3, 3, 12, 12]);
    expect(limit).toHaveBeenCalledTimes(1);
  });

  it('deny when the function answers no number, and say so', async () => {
    const odd: unknown[] = [
      Number.NaN,
      -1,
      1.5,
      Infinity,
      '5',
      undefined,
      2 ** 60,
      Promise.resolve('x'),
      Promise.reject(new Error('no')),
    ];
    for (const answer of odd) {
      const { limiter, warnings } = limiterWith();
      const policy = definePolicy({ name: 'p', limits: [{ limit: () => answer as number, window: '1m' }] });
      expect(await limiter.check(contextOf(), policy)).toMatchObject({ allowed: false, retryAfterMs: Infinity });
      expect(warnings.map(({ code }) => code)).toContain('limit-unusable');
    }
  });
});

describe('what was charged', () => {
  const tokens = (options: Partial<PolicyOptions> = {}) =>
    definePolicy({ name: 'tokens', limits: [{ limit: 100, window: '1m', per: 'ip' }], cost: 40, ...options });
  const left = (limiter: Limiter, policy = tokens()): unknown =>
    (limiter.peek(contextOf(), policy) as Decision).quota?.remaining;

  it('is given back once, however often it is asked for', () => {
    const { limiter } = limiterWith();
    const decision = check(limiter, tokens());
    expect(left(limiter)).toBe(60);
    expect([decision.refund(), decision.refund(), decision.settle(0), decision.settle(100)]).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect(left(limiter)).toBe(100);
  });

  it('is settled: the difference is given back, or charged as debt', () => {
    const { limiter } = limiterWith();
    expect(check(limiter, tokens()).settle(15)).toBe(true);
    expect(left(limiter)).toBe(85);
    expect(check(limiter, tokens()).settle(90)).toBe(true);
    expect(limiter.peek(contextOf(), tokens())).toMatchObject({ allowed: false, binding: { remaining: 0 } });
  });

  it("is settled only where the cost is the policy's", () => {
    const { limiter } = limiterWith();
    const limits = [
      { limit: 100, window: '1m', per: 'ip', name: 'tokens' },
      { limit: 10, window: '1m', per: 'ip', name: 'requests', cost: 1 },
    ] as const;
    check(limiter, tokens({ limits })).settle(100);
    const { outcomes } = limiter.peek(contextOf(), tokens({ limits })) as Decision;
    expect(outcomes.map(({ name, remaining }) => [name, remaining])).toEqual([
      ['tokens-tokens', 0],
      ['tokens-requests', 9],
    ]);
  });

  it('stays reserved when it is settled with no number', () => {
    const { limiter } = limiterWith();
    const decision = check(limiter, tokens());
    for (const actual of [Number.NaN, -1, 1.5, Infinity, '5', undefined])
      expect(decision.settle(actual as number)).toBe(false);
    expect(left(limiter)).toBe(60);
    expect(decision.settle(10)).toBe(true);
  });

  it('is nothing when the request was denied', () => {
    const { limiter } = limiterWith();
    check(limiter, tokens({ cost: 90 }));
    const denied = check(limiter, tokens());
    expect(denied.allowed).toBe(false);
    expect([denied.refund(), denied.settle(0)]).toEqual([false, false]);
    expect(left(limiter)).toBe(10);
  });

  it('is nothing any more once its window has passed', () => {
    const clock = createClock();
    const limiter = createLimiter({ store: memoryStore({ now: clock }) });
    const decision = check(limiter, tokens());
    clock.advance(120_000);
    check(limiter, tokens());
    expect(decision.refund()).toBe(false);
    expect(left(limiter)).toBe(60);
  });

  it('is given back to the store that charged it, also to the local one', async () => {
    let up = false;
    const memory = memoryStore({ now: createClock() });
    const store: Store = {
      ...memory,
      take: (requests) => (up ? memory.take(requests) : Promise.reject(new StoreError('failed', 'no'))),
      peek: (request) => (up ? memory.peek(request) : Promise.reject(new StoreError('failed', 'no'))),
    };
    const { limiter } = limiterWith({ store });
    const local = await limiter.check(contextOf(), tokens());
    expect(local).toMatchObject({ source: 'local', binding: { limit: 40, remaining: 0 } });
    up = true;
    check(limiter, tokens());
    expect(local?.refund()).toBe(true);
    expect(left(limiter)).toBe(60);
    up = false;
    expect(await limiter.peek(contextOf(), tokens())).toMatchObject({ source: 'local', binding: { remaining: 40 } });
  });

  it('a refund never fails and is never retried', async () => {
    const memory = memoryStore({ now: createClock() });
    const adjust = vi.fn<Store['adjust']>(() => Promise.reject(new StoreError('failed', 'no')));
    const { limiter } = limiterWith({ store: { ...memory, take: memory.take, adjust } });
    const decision = check(limiter, tokens());
    expect(await decision.refund()).toBe(false);
    expect(await decision.refund()).toBe(false);
    expect(adjust).toHaveBeenCalledTimes(1);
  });
});

describe('what the response decides', () => {
  interface Ended {
    readonly decision: Decision;
    end(response?: Partial<ResponseFacts>): Promise<void>;
  }

  /** A request that is decided at once, and can be ended with a response. */
  async function begin(limiter: Limiter, spec: Parameters<Limiter['check']>[1], facts: Facts = {}): Promise<Ended> {
    const listeners: ((response: ResponseFacts) => void)[] = [];
    const ctx: RequestContext = Object.assign(contextOf(facts), {
      onFinish: (listener: (r: ResponseFacts) => void) => void listeners.push(listener),
    });
    const decision = (await limiter.check(ctx, spec)) as Decision;
    return {
      decision,
      async end(response = {}) {
        for (const listener of listeners)
          listener({ status: 200, aborted: false, header: () => undefined, ...response });
        await new Promise((resolve) => setImmediate(resolve));
      },
    };
  }
  const failuresOnly = policyOf(3, { refundWhen: ({ status }) => status < 400 });
  const used = (limiter: Limiter, policy: typeof failuresOnly) =>
    (limiter.peek(contextOf(), policy) as Decision).binding?.remaining;

  it('refundWhen: only failures count, and what is under way counts until it is known', async () => {
    const { limiter } = limiterWith();
    const all = await Promise.all([1, 2, 3, 4].map(() => begin(limiter, failuresOnly)));
    expect(all.map(({ decision }) => decision.allowed)).toEqual([true, true, true, false]);
    await all[0]?.end({ status: 200 });
    await all[1]?.end({ status: 500 });
    await all[2]?.end({ status: 200, aborted: true });
    await all[3]?.end({ status: 429 });
    expect(used(limiter, failuresOnly)).toBe(1);
  });

  it("refundWhen may be asked late, gives back once, and only what is its policy's", async () => {
    const { limiter } = limiterWith();
    const late = policyOf(3, { refundWhen: () => Promise.resolve(true) });
    const other = policyOf(3, { name: 'other' });
    const request = await begin(limiter, [late, other]);
    await request.end();
    await request.end();
    expect([used(limiter, late), used(limiter, other)]).toEqual([3, 2]);
    expect(await request.decision.refund()).toBe(true);
    expect([used(limiter, late), used(limiter, other)]).toEqual([3, 3]);
  });

  it('nothing but true gives back, and a failing test says so', async () => {
    const answers = [
      () => 'yes',
      () => 1,
      () => undefined,
      () => Promise.resolve('yes'),
      () => Promise.reject(new Error('no')),
    ];
    for (const answer of answers) {
      const { limiter } = limiterWith();
      const policy = policyOf(3, { refundWhen: answer as never });
      await (await begin(limiter, policy)).end();
      expect(used(limiter, policy)).toBe(2);
    }
    const { limiter, warnings } = limiterWith();
    await (
      await begin(
        limiter,
        policyOf(3, {
          refundWhen: () => {
            throw new Error('no');
          },
        }),
      )
    ).end();
    expect(warnings.map(({ code }) => code)).toEqual(['resolver-failed']);
  });

  it('gives back in the shadow as well, or it would look stricter than it will be', async () => {
    const { limiter } = limiterWith();
    const shadow = policyOf(1, { name: 'strict', mode: 'shadow', refundWhen: ({ status }) => status < 400 });
    const said: (boolean | undefined)[] = [];
    for (const status of [200, 500, 200]) {
      const { decision, end } = await begin(limiter, [failuresOnly, shadow]);
      said.push(decision.shadow[0]?.allowed);
      await end({ status });
    }
    expect(said).toEqual([true, true, false]);
    expect(used(limiter, failuresOnly)).toBe(2);
    const seen = limiter.peek(contextOf(), [failuresOnly, shadow]) as Decision;
    expect([seen.allowed, seen.shadow[0]?.allowed]).toEqual([true, false]);
  });

  it("resetWhen forgets that limit's counter, and no other", async () => {
    const { limiter } = limiterWith();
    const user = username((_: unknown, ctx) => ctx.header('x-user'));
    const login = definePolicy({
      name: 'login',
      limits: [
        { per: ['ip', user], limit: 5, window: '1m', resetWhen: ({ status }) => status === 200 },
        { per: 'ip', limit: 20, window: '1m' },
      ],
    });
    const facts = { headers: { 'x-user': 'Bob' } };
    for (const status of [401, 401, 401, 401, 200]) await (await begin(limiter, login, facts)).end({ status });
    const { outcomes } = limiter.peek(contextOf(facts), login) as Decision;
    expect(outcomes.map(({ remaining }) => remaining)).toEqual([5, 15]);
  });

  it('a denied request is no success, whatever its response is taken for', async () => {
    const { limiter } = limiterWith();
    const asked = vi.fn<() => boolean>(() => true);
    const login = definePolicy({
      name: 'login',
      limits: [{ per: 'ip', limit: 2, window: '1m', resetWhen: asked }],
      refundWhen: asked,
    });
    const all = [await begin(limiter, login), await begin(limiter, login), await begin(limiter, login)];
    expect(all.map(({ decision }) => decision.allowed)).toEqual([true, true, false]);
    await all[2]?.end({ status: 200 });
    expect(asked).not.toHaveBeenCalled();
    expect((await begin(limiter, login)).decision.allowed).toBe(false);
  });

  it('says when the adapter cannot tell', () => {
    const { limiter, warnings } = limiterWith();
    check(limiter, failuresOnly);
    expect(warnings.map(({ code }) => code)).toEqual(['response-unknown']);
  });

  it('gives back to the local store what it charged', async () => {
    const { limiter } = limiterWith({
      store: {
        ...memoryStore(),
        take: () => Promise.reject(new StoreError('failed', 'no')),
        peek: () => Promise.reject(new StoreError('failed', 'no')),
      },
    });
    const policy = policyOf(8, { refundWhen: () => true });
    for (let i = 0; i < 5; i++) {
      const request = await begin(limiter, policy);
      expect(request.decision).toMatchObject({ allowed: true, source: 'local' });
      await request.end();
    }
  });
});

describe('a policy in the shadow', () => {
  it('decides and tells, on its own counters, and never denies', () => {
    const { limiter } = limiterWith();
    const shadow = policyOf(1, { name: 'strict', mode: 'shadow' });
    const enforced = policyOf(3, { name: 'loose' });
    const decisions = [1, 2, 3, 4].map(() => check(limiter, [enforced, shadow]));
    expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, true, false]);
    expect(decisions.map(({ shadow: said }) => said[0]?.allowed)).toEqual([true, false, false, false]);
    expect(decisions[1]?.outcomes.map(({ name }) => name)).toEqual(['loose', 'loose~site']);
    expect(check(limiter, shadow)).toMatchObject({ allowed: true, binding: undefined, quota: undefined });
  });

  it('keeps its own name and refuses what it is not', () => {
    expect(() => policyOf(1, { mode: 'observe' as never })).toThrow("policy.mode must be one of 'enforce', 'shadow'");
  });
});

describe('a limit with a condition', () => {
  it('counts what the condition says, and everything when it fails', () => {
    const { limiter } = limiterWith();
    const when = vi.fn<(req: unknown, ctx: RequestContext) => boolean>((_, ctx) => ctx.header('x-strict') === 'yes');
    const limits = [
      { limit: 1, window: '1m', per: 'ip', when },
      { limit: 9, window: '1h', per: 'ip' },
    ] as const;
    const policy = definePolicy({ name: 'p', limits });
    const strict = { headers: { 'x-strict': 'yes' } };
    expect([check(limiter, policy).allowed, check(limiter, policy).allowed]).toEqual([true, true]);
    expect([check(limiter, policy, strict).allowed, check(limiter, policy, strict).allowed]).toEqual([true, false]);
    when.mockImplementation(() => {
      throw new Error('no');
    });
    expect(check(limiter, policy).allowed).toBe(false);
  });
});

describe('peek, reset, block, unblock', () => {
  it('peek changes nothing, and does not count as having been asked', () => {
    const { limiter } = limiterWith();
    const [policy, raw] = [policyOf(2), {}];
    for (let i = 0; i < 10; i++)
      expect(limiter.peek(contextOf({ raw }), policy)).toMatchObject({ allowed: true, binding: { remaining: 2 } });
    expect(check(limiter, policy, { raw })).toMatchObject({ binding: { remaining: 1 } });
    expect(limiter.peek(contextOf(), () => false)).toBeUndefined();
  });

  it('reset forgets the caller, and leaves what is shared with others', () => {
    const { limiter } = limiterWith();
    const policy = policyOf(2, {
      backstop: 2,
      limits: [
        { limit: 2, window: '1m' },
        { limit: 3, window: '1m', per: 'global', name: 'all' },
      ],
    });
    const passes = () => check(limiter, policy).allowed;
    expect([passes(), passes(), passes()]).toEqual([true, true, false]);
    expect(limiter.reset(contextOf(), policy)).toBe(true);
    // One more by the limit on everybody, which was not the caller's to reset.
    expect([passes(), passes()]).toEqual([true, false]);
    expect(limiter.reset(contextOf({ ip: '203.0.113.99' }), policy)).toBe(false);
  });

  it('leave what is shared with a whole route alone', () => {
    const { limiter } = limiterWith();
    const policy = policyOf(5, {
      limits: [
        { limit: 5, window: '1m', per: 'route' },
        { limit: 5, window: '1m', per: ['ip', 'route'], name: 'own' },
      ],
    });
    check(limiter, policy);
    expect(limiter.block(contextOf(), policy, '1m')).toBe(true);
    expect(check(limiter, policy).allowed).toBe(false);
    expect(check(limiter, policy, { ip: '203.0.113.8' }).allowed).toBe(true);
  });

  it('block bars the caller and nobody else; unblock ends it', () => {
    const { limiter } = limiterWith();
    const policy = policyOf(5);
    expect(limiter.block(contextOf(), policy, '15m')).toBe(true);
    expect(check(limiter, policy)).toMatchObject({
      allowed: false,
      retryAfterMs: 900_000,
      binding: { reason: 'blocked' },
    });
    expect(check(limiter, policy, { ip: '203.0.113.8' }).allowed).toBe(true);
    expect(limiter.unblock(contextOf(), policy)).toBe(true);
    expect(limiter.unblock(contextOf(), policy)).toBe(false);
    expect(check(limiter, policy)).toMatchObject({ allowed: true, binding: { remaining: 4 } });
  });

  it("fail with the store's error, so that nobody believes a lock-out that did not happen", async () => {
    const store: Store = { ...memoryStore(), adjust: () => Promise.reject(new StoreError('unavailable', 'gone')) };
    const { limiter } = limiterWith({ store });
    await expect(limiter.block(contextOf(), policyOf(5), '1m')).rejects.toThrow('gone');
    await expect(limiter.reset(contextOf(), policyOf(5))).rejects.toThrow('gone');
    const raw: Store = { ...memoryStore(), adjust: () => Promise.reject(new Error('OOM command not allowed')) };
    await expect(limiterWith({ store: raw }).limiter.reset(contextOf(), policyOf(5))).rejects.toMatchObject({
      name: 'StoreError',
      code: 'failed',
    });
  });
});

describe('a leaky bucket that shapes', () => {
  const shaping = (options: Partial<PolicyOptions> = {}) =>
    definePolicy({
      name: 's',
      limits: [{ algorithm: 'leaky-bucket', limit: 20, window: '1s', shape: { maxDelay: 120 }, per: 'ip' }],
      ...options,
    });

  it("answers when it is the request's turn, never before, and denies at once what would wait too long", async () => {
    const { limiter } = limiterWith({ store: memoryStore() });
    const start = performance.now();
    const answered = async () => ({
      decision: await limiter.check(contextOf(), shaping()),
      at: performance.now() - start,
    });
    const all = await Promise.all([answered(), answered(), answered(), answered()]);
    expect(all.map(({ decision }) => decision?.allowed)).toEqual([true, true, true, false]);
    const delays = all.map(({ decision }) => decision?.delayMs ?? 0);
    expect(delays[0]).toBe(0);
    expect(all.filter(({ at }, i) => at < (delays[i] as number))).toEqual([]);
  });

  it('is cancelled at once when the client has gone before, and cannot give its slot back', async () => {
    const { limiter } = limiterWith({ store: memoryStore() });
    check(limiter, shaping());
    const gone: RequestContext = { ...contextOf(), onDisconnect: (listener) => (listener(), () => {}) };
    const decision = await limiter.check(gone, shaping());
    expect(decision).toMatchObject({ allowed: false, cancelled: true });
    expect([decision?.refund(), decision?.settle(0)]).toEqual([false, false]);
    const broken: RequestContext = {
      ...contextOf(),
      onDisconnect: () => {
        throw new Error('no');
      },
    };
    expect(await limiter.check(broken, shaping())).toMatchObject({ allowed: true });
  });

  it('is cancelled when the client goes away, and keeps its slot', async () => {
    const { limiter } = limiterWith({ store: memoryStore() });
    let leave: () => void = () => {};
    let listening = 0;
    const ctx: RequestContext = {
      ...contextOf(),
      onDisconnect(listener) {
        leave = listener;
        listening++;
        return () => void listening--;
      },
    };
    check(limiter, shaping());
    const waiting = limiter.check(ctx, shaping());
    leave();
    expect(await waiting).toMatchObject({ allowed: false, cancelled: true });
    expect(listening).toBe(0);
    expect(limiter.peek(contextOf(), shaping())).toMatchObject({ delayMs: expect.closeTo(100, -1) as number });
  });
});
