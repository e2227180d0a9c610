import { metrics } from '@opentelemetry/api';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { RequestContext } from '../context.ts';
import { StoreError } from '../errors.ts';
import { createLimiter, type Limiter } from '../limiter.ts';
import type { LimiterOptions } from '../limiter-options.ts';
import { definePolicy } from '../policy/define-policy.ts';
import type { FailureMode, PolicyOptions } from '../policy/policy.ts';
import { memoryStore } from '../stores/memory-store.ts';
import type { Store } from '../stores/store.ts';
import { createClock } from '../testing/index.ts';

class Reader extends MetricReader {
  protected override onForceFlush = async (): Promise<void> => {};
  protected override onShutdown = async (): Promise<void> => {};
}

/** What an SDK has measured: for each metric its values by attributes, of a histogram how many. */
type Measured = Record<string, Record<string, number>>;

/** Registers an SDK, and reads what it has measured. */
function startSdk(): () => Promise<Measured> {
  const reader = new Reader();
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  return async () => {
    const { resourceMetrics, errors } = await reader.collect();
    expect(errors).toEqual([]);
    const measured: Measured = {};
    for (const { descriptor, dataPoints } of resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics)) {
      const values = (measured[descriptor.name] = {} as Record<string, number>);
      for (const { attributes, value } of dataPoints) {
        values[Object.values(attributes).join(' ')] = typeof value === 'number' ? value : value.count;
      }
    }
    return measured;
  };
}

afterEach(() => {
  vi.restoreAllMocks();
  metrics.disable();
});

const IP = '203.0.113.7';

function contextOf(headers: Record<string, string> = {}): RequestContext {
  return { method: 'GET', path: '/', route: undefined, header: (n) => headers[n], ip: IP, user: 'u', raw: {} };
}

function policyOf(limit: number, options: Partial<PolicyOptions> = {}) {
  return definePolicy({ name: 'p', limits: [{ limit, window: '1m' }], ...options });
}

function limiterWith(options: LimiterOptions = {}): Limiter {
  return createLimiter({ store: memoryStore({ now: createClock() }), onWarning: () => {}, ...options });
}

/** A store that fails with each of these in turn, and then decides. */
function failing(...errors: readonly Error[]): Store {
  const rest = [...errors];
  const { take, ...store } = memoryStore();
  return {
    ...store,
    name: 'flaky',
    take: async (requests) => {
      const error = rest.shift();
      if (error !== undefined) throw error;
      return take(requests);
    },
  };
}

describe('decisions', () => {
  it('are counted by policy, outcome and source, and denials by the limit that binds', async () => {
    const read = startSdk();
    const limiter = limiterWith();
    const two = [policyOf(2), policyOf(9, { name: 'wide' })];
    for (let i = 0; i < 3; i++) await limiter.check(contextOf(), two);
    const measured = await read();
    expect(measured['ratelimit.decisions']).toEqual({
      'p allowed store': 2,
      'p denied store': 1,
      'wide allowed store': 2,
      'wide denied store': 1,
    });
    expect(measured['ratelimit.denied']).toEqual({ 'p p exhausted': 1 });
    expect(measured['ratelimit.store.duration']).toEqual({ 'memory ok': 3 });
    expect(measured['ratelimit.degraded']).toBeUndefined();
  });

  it('are near a limit from 80 % of it, and only where they are admitted', async () => {
    const read = startSdk();
    const limiter = limiterWith();
    for (let i = 0; i < 8; i++) await limiter.check(contextOf(), policyOf(10));
    expect((await read())['ratelimit.near_limit']).toEqual({ 'p p': 1 });
    for (let i = 0; i < 8; i++) await limiter.check(contextOf(), policyOf(10));
    expect((await read())['ratelimit.near_limit']).toEqual({ 'p p': 3 });
  });

  it('of a policy in the shadow are counted apart', async () => {
    const read = startSdk();
    const limiter = limiterWith();
    const policies = [policyOf(5), policyOf(1, { name: 'tried', mode: 'shadow' })];
    for (let i = 0; i < 3; i++) await limiter.check(contextOf(), policies);
    const measured = await read();
    expect(measured['ratelimit.decisions']).toEqual({ 'p allowed store': 3 });
    expect(measured['ratelimit.shadow']).toEqual({ 'tried allowed': 1, 'tried denied': 2 });
    expect(measured['ratelimit.denied']).toBeUndefined();
  });

  it.each<[FailureMode, string]>([
    ['local', 'p allowed local'],
    ['open', 'p allowed open'],
    ['closed', 'p denied closed'],
  ])('without the store are counted as degraded: %s', async (onStoreFailure, decided) => {
    const read = startSdk();
    const limiter = limiterWith({ store: failing(new Error('away')) });
    await limiter.check(contextOf(), policyOf(1, { onStoreFailure }));
    const measured = await read();
    expect(measured['ratelimit.decisions']).toEqual({ [decided]: 1 });
    expect(measured['ratelimit.degraded']).toEqual({ [decided.replace(/ \w+/, '')]: 1 });
    // One unit of one is used, but of a share that is not the limit.
    expect(measured['ratelimit.near_limit']).toBeUndefined();
    expect(measured['ratelimit.denied']).toBeUndefined();
  });

  it('of policies that are made per request share one name beyond the first 200', async () => {
    const read = startSdk();
    const limiter = limiterWith();
    for (let i = 0; i < 300; i++) {
      const limits = Array.from({ length: 2 }, (_, k) => ({ name: `l${i}-${k}`, limit: k, window: '1m' }) as const);
      await limiter.check(contextOf(), () => policyOf(1, { name: `tenant-${i}`, limits }));
    }
    const measured = await read();
    expect(Object.keys(measured['ratelimit.decisions'] ?? {})).toHaveLength(201);
    expect(measured['ratelimit.decisions']).toMatchObject({ 'tenant-199 denied store': 1, 'other denied store': 100 });
    expect(Object.keys(measured['ratelimit.denied'] ?? {})).toHaveLength(201);
    expect(measured['ratelimit.denied']).toMatchObject({ 'other other never': 100 });
  });

  it('of one policy have at most 64 limits of their own name', async () => {
    const read = startSdk();
    const limiter = limiterWith();
    for (let i = 0; i < 100; i++) {
      const limits = [{ name: `l${i}`, limit: 0, window: '1m' }] as const;
      await limiter.check(contextOf(), () => policyOf(0, { limits: [...limits, { limit: 9, window: '1m' }] }));
    }
    const denied = (await read())['ratelimit.denied'];
    expect(Object.keys(denied ?? {})).toHaveLength(65);
    expect(denied).toMatchObject({ 'p other never': 36 });
  });
});

describe('attributes', () => {
  it('have nothing of the caller', async () => {
    const read = startSdk();
    const limiter = limiterWith();
    const policy = policyOf(1, { limits: ['ip', 'user', 'apiKey', 'route'].map(toLimit) });
    const ctx = { ...contextOf({ 'x-api-key': 'key-1', 'user-agent': 'agent-1' }), user: 'ada', route: '/orders' };
    for (let i = 0; i < 3; i++) await limiter.check({ ...ctx, raw: {} }, policy);
    const text = JSON.stringify(await read());
    for (const secret of [IP, 'key-1', 'agent-1', 'ada', 'orders']) expect(text).not.toContain(secret);
  });

  function toLimit(per: string) {
    return { per: per as 'ip', limit: 1, window: '1m' } as const;
  }
});

describe('the SDK', () => {
  it('may be registered after the limiter was made, and another one later', async () => {
    const limiter = limiterWith();
    limiter.check(contextOf(), policyOf(9));
    const first = startSdk();
    limiter.check(contextOf(), policyOf(9));
    metrics.disable();
    limiter.check(contextOf(), policyOf(9));
    const second = startSdk();
    limiter.check(contextOf(), policyOf(9));
    limiter.check(contextOf(), policyOf(9));
    expect((await first())['ratelimit.decisions']).toEqual({ 'p allowed store': 1 });
    expect((await second())['ratelimit.decisions']).toEqual({ 'p allowed store': 2 });
  });

  it('hears of the warnings that it has missed, and of all later ones', async () => {
    const skip = (): boolean => {
      throw new Error('no');
    };
    const limiter = limiterWith();
    for (let i = 0; i < 2; i++) await limiter.check(contextOf(), policyOf(9, { skip }));
    const read = startSdk();
    for (let i = 0; i < 3; i++) await limiter.check(contextOf(), policyOf(9, { skip }));
    expect((await read())['ratelimit.warnings']).toEqual({ 'resolver-failed': 5 });
    expect(limiter.warnings.get('resolver-failed')).toBe(5);
  });

  it('breaks no decision, whatever it throws', async () => {
    const thrower = (): never => {
      throw new Error('broken');
    };
    const broken = { add: thrower, record: thrower, addCallback: thrower };
    const meters = [
      { createCounter: () => broken, createHistogram: () => broken, createObservableGauge: () => broken },
      { createCounter: () => broken, createHistogram: () => broken, createObservableGauge: thrower },
      { createCounter: thrower },
    ];
    const providers = [...meters.map((meter) => ({ getMeter: () => meter })), { getMeter: thrower }];
    for (const provider of providers) {
      metrics.setGlobalMeterProvider(provider as never);
      const limiter = limiterWith({ store: failing(new Error('away')) });
      expect(await limiter.check(contextOf(), policyOf(8))).toMatchObject({ allowed: true, source: 'local' });
      expect(await limiter.check(contextOf(), policyOf(8))).toMatchObject({ allowed: true, source: 'store' });
      metrics.disable();
    }
  });
});

describe('the store', () => {
  it('has its calls timed by how they ended', async () => {
    const read = startSdk();
    const codes = ['failed', 'refused', 'misconfigured'] as const;
    for (const code of codes) {
      const limiter = limiterWith({ store: failing(new StoreError(code, 'no')) });
      await limiter.check(contextOf(), policyOf(9));
      await limiter.check(contextOf(), policyOf(9));
    }
    await limiterWith({ store: failing(new Error('no StoreError')) }).check(contextOf(), policyOf(9));
    const silent = { ...memoryStore(), name: 'silent', take: () => new Promise<never>(() => {}) };
    await limiterWith({ store: silent, deadline: 1 }).check(contextOf(), policyOf(9));
    expect((await read())['ratelimit.store.duration']).toEqual({
      'flaky failed': 2,
      'flaky refused': 1,
      'flaky misconfigured': 1,
      // What was not asked, because the breaker is open, took no time.
      'flaky ok': 2,
      'silent deadline': 1,
    });
  });

  it('has the state of its breaker told: the worse of two, and closed once nobody asks it any more', async () => {
    const read = startSdk();
    const state = async () => (await read())['ratelimit.breaker.state'];
    const fail = () => ({ ...failing(new StoreError('misconfigured', 'NOAUTH')), name: 'two' });
    const limiters = [limiterWith({ store: fail() }), limiterWith({ store: fail() })] as const;
    await limiters[0].check(contextOf(), policyOf(9));
    expect(await state()).toMatchObject({ two: 2 });
    await limiters[1].check(contextOf(), policyOf(9));
    await limiters[0].close();
    expect(await state()).toMatchObject({ two: 2 });
    const later = performance.now() + 31_000;
    vi.spyOn(performance, 'now').mockReturnValue(later);
    expect(await state()).toMatchObject({ two: 0 });
    // Somebody asks it after all: this is the probe.
    await limiters[1].check(contextOf(), policyOf(9));
    expect(await state()).toMatchObject({ two: 0 });
  });
});
