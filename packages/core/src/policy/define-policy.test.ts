import { describe, expect, it } from 'vitest';
import { partition } from '../identity/partition.ts';
import { definePolicy } from './define-policy.ts';
import type { LimitOptions, PolicyOptions } from './policy.ts';
import { byTier } from './tiers.ts';
import { createLimiter } from '../limiter.ts';

const LIMIT: LimitOptions = { limit: 5, window: '1m' };

function withPolicy(options: Record<string, unknown>): () => unknown {
  return () => definePolicy({ name: 'p', limits: [LIMIT], ...options });
}

function withLimit(options: Record<string, unknown>): () => unknown {
  return () => definePolicy({ name: 'p', limits: [{ ...LIMIT, ...options }] });
}

describe('definePolicy', () => {
  const badNumbers = [Number.NaN, -1, 1.5, Infinity, '5', null, 10 ** 15, {}, 5n];

  it.each(badNumbers)('refuses limit: %s', (limit) => {
    expect(withLimit({ limit })).toThrow(/^policy\.limits\[0\]\.limit must be an integer from 0 to \d+; received /);
  });

  it.each([0, -1, Number.NaN, 2 ** 60, '5 parsecs', '32d', 1.5, null])('refuses window: %s', (window) => {
    expect(withLimit({ window })).toThrow(/^policy\.limits\[0\]\.window must be a duration/);
  });

  it.each([Number.NaN, -1, 1.5, Infinity, '5', null, 6])('refuses a constant cost of %s for limit 5', (cost) => {
    expect(withLimit({ cost })).toThrow(/^policy\.limits\[0\]\.cost must be an integer from 0 to 5; received /);
    expect(withPolicy({ cost })).toThrow(/^policy\.cost must be an integer from 0 to 5; received /);
  });

  it.each([
    [{ name: '' }, 'policy.name must be 1 to 64 printable ASCII characters; received ""'],
    [{ name: 'a\r\nSet-Cookie: x' }, 'policy.name must be'],
    [{ name: 'é' }, 'policy.name must be'],
    [{ name: 'x'.repeat(65) }, 'policy.name must be'],
    [{ name: 5 }, 'policy.name must be'],
    [{ limits: [] }, 'policy.limits must be a non-empty array'],
    [{ limits: LIMIT }, 'policy.limits must be a non-empty array; received an object'],
    [{ onStoreFailure: 'maybe' }, `policy.onStoreFailure must be one of 'local', 'open', 'closed'; received "maybe"`],
    [{ onStoreFailure: { local: 0 } }, 'policy.onStoreFailure.local must be a share above 0, up to 1; received 0'],
    [{ onStoreFailure: { local: 2 } }, 'policy.onStoreFailure.local must be'],
    [{ onStoreFailure: { share: 1 } }, 'policy.onStoreFailure has no option "share"'],
    [{ disclose: 'some' }, 'policy.disclose must be one of'],
    [{ skip: true }, 'policy.skip must be a function; received true'],
    [{ backstop: 0 }, 'policy.backstop must be an integer from 1'],
    [{ burst: 5 }, 'policy has no option "burst"'],
  ])('refuses %o', (options, message) => {
    expect(withPolicy(options)).toThrow(message);
  });

  it.each([
    [
      { algorithm: 'guess' },
      `policy.limits[0].algorithm must be one of 'sliding-window', 'token-bucket', 'leaky-bucket', 'fixed-window', 'sliding-log'; received "guess"`,
    ],
    [{ per: 'session' }, 'policy.limits[0].per must be one of identity, ip, user, apiKey, route, global'],
    [{ per: [] }, 'policy.limits[0].per must be'],
    [{ per: ['ip', 'nobody'] }, 'received "nobody"'],
    [{ per: { name: 'a b', resolve: () => 'x' } }, 'partition.name must be'],
    [{ name: 'a:b' }, 'policy.limits[0].name must be'],
    [{ windowMs: 5 }, 'policy.limits[0] has no option "windowMs"'],
    [{ burst: 5 }, 'policy.limits[0].burst must be left out for sliding-window; received 5'],
    [{ algorithm: 'fixed-window', burst: 5 }, 'policy.limits[0].burst must be left out for fixed-window'],
    [
      { algorithm: 'token-bucket', burst: 0 },
      'policy.limits[0].burst must be an integer from 1 to 150119987579; received 0',
    ],
    [{ algorithm: 'token-bucket', burst: 1.5 }, 'policy.limits[0].burst must be'],
    [{ algorithm: 'token-bucket', burst: 2 ** 40, window: '1d' }, 'policy.limits[0].burst must be'],
    [
      { algorithm: 'token-bucket', burst: 5, cost: 6 },
      'policy.limits[0].cost must be an integer from 0 to 5; received 6',
    ],
    [
      { algorithm: 'leaky-bucket', burst: 2, cost: 3 },
      'policy.limits[0].cost must be an integer from 0 to 2; received 3',
    ],
    [
      { algorithm: 'sliding-log', limit: 10_001 },
      'policy.limits[0].limit must be an integer from 0 to 10000; received 10001',
    ],
    [{ shape: { maxDelay: '1s' } }, 'policy.limits[0].shape must be left out for sliding-window'],
    [
      { algorithm: 'leaky-bucket', shape: {} },
      'policy.limits[0].shape.maxDelay must be a duration from 0 ms to 60000 ms',
    ],
    [{ algorithm: 'leaky-bucket', shape: { maxDelay: '2m' } }, 'policy.limits[0].shape.maxDelay must be'],
    [{ algorithm: 'leaky-bucket', shape: { delay: 1 } }, 'policy.limits[0].shape has no option "delay"'],
    [{ algorithm: 'leaky-bucket', shape: true }, 'policy.limits[0].shape must be an object; received true'],
    [
      { algorithm: 'leaky-bucket', limit: 2 ** 40, window: 1, shape: { maxDelay: '1m' } },
      'policy.limits[0].limit must be',
    ],
    [{ block: 0 }, 'policy.limits[0].block must be a duration from 1 ms'],
    [{ block: '32d' }, 'policy.limits[0].block must be a duration'],
  ])('refuses a limit with %o', (options, message) => {
    expect(withLimit(options)).toThrow(message);
  });

  it('names a limit alike however its window is spelt, or a new spelling would be a second budget', () => {
    const paths = ['60s', 60_000, '1m'].map(
      (window) => definePolicy({ name: 'p', limits: [{ ...LIMIT, window: window as '1m' }] }).limits[0]?.rule.path,
    );
    expect(new Set(paths)).toEqual(new Set(['p:identity-1m:sw60000']));
  });

  it('takes at most 16 limits, and lets nobody take one out', () => {
    const limits = Array.from({ length: 17 }, (_, i) => ({ ...LIMIT, name: `l${i}` }));
    expect(withPolicy({ limits })).toThrow('policy.limits must be an array of at most 16; received "17 limits"');
    const policy = definePolicy({ name: 'p', limits: limits.slice(0, 16) });
    expect(() => (policy.limits as unknown[]).pop()).toThrow(TypeError);
    expect(() => Object.assign(policy, { limits: [] })).toThrow(TypeError);
  });

  it('bounds limit × window below 2^53, where the arithmetic is exact', () => {
    expect(withLimit({ limit: 1_000_000, window: '31d' })).not.toThrow();
    expect(withLimit({ limit: 3_400_000, window: '31d' })).toThrow('an integer from 0 to 3362902');
    expect(withLimit({ limit: 999_999_999_999_999, window: 1 })).not.toThrow();
  });

  it('lets a deny-all limit have any cost', () => {
    expect(withLimit({ limit: 0, cost: 10 })).not.toThrow();
  });

  it('refuses two limits of one name, and names limits by partition and window', () => {
    expect(withPolicy({ limits: [LIMIT, { ...LIMIT, limit: 9 }] })).toThrow(
      'policy.limits must be limits of distinct names; received "identity-1m"',
    );
    const { limits } = definePolicy({
      name: 'p',
      limits: [
        { limit: 10, window: '1s', per: 'ip' },
        { limit: 1000, window: 3_600_000, per: ['ip', partition('tenant', () => 'x')] },
      ],
    });
    expect(limits.map(({ name }) => name).slice(0, 2)).toEqual(['ip-1s', 'ip-tenant-1h']);
    expect(limits.map(({ rule }) => rule.name).slice(0, 2)).toEqual(['p-ip-1s', 'p-ip-tenant-1h']);
  });

  it('escapes the policy name in keys', () => {
    const [limit] = definePolicy({ name: 'a:{b} %', limits: [LIMIT] }).limits;
    expect(limit?.rule.path).toBe('a%3A%7Bb%7D%20%25:identity-1m:sw60000');
  });

  it('gives a limit on what a client can have many of a sibling on the site, unless a limit by address does as much', () => {
    const withSibling = definePolicy({ name: 'p', limits: [LIMIT] });
    expect(withSibling.limits.map(({ per, rule }) => [per, rule.limit, rule.disclosed])).toEqual([
      [['identity'], 5, true],
      [['site'], 50, false],
    ]);
    const bounds = (...limits: LimitOptions[]) =>
      definePolicy({ name: 'p', limits }).limits.flatMap(({ backstopOf }) => backstopOf ?? []);
    const byIp = { limit: 20, window: '1m', per: 'ip' } as const;
    expect(bounds(LIMIT, byIp)).toEqual(['ip']);
    expect(bounds({ ...LIMIT, per: 'user' })).toEqual(['user']);
    expect(bounds({ ...LIMIT, per: ['apiKey', 'route'] })).toEqual(['apiKey']);
    expect(bounds({ ...LIMIT, per: 'route' })).toEqual([]);
    // Ten requests of cost 10 against a hundred of cost 1.
    expect(bounds({ ...LIMIT, limit: 100, cost: 10 }, { ...byIp, limit: 1000 })).toEqual(['identity', 'ip']);
    // A limit that does not always count, or is wider than the sibling, is no substitute for it.
    for (const weak of [
      { ...byIp, when: () => true },
      { ...byIp, cost: 0 },
      { ...byIp, limit: 51 },
      { ...byIp, window: '1s' as const },
      { ...byIp, limit: () => 20 },
      { ...byIp, per: ['ip', 'route'] as const },
    ])
      expect(bounds(LIMIT, weak)).toEqual(['identity', 'ip']);
    expect(
      definePolicy({ name: 'p', limits: [{ ...LIMIT, limit: 2 ** 40, window: 8000 }] }).limits[1]?.rule.limit,
    ).toBe(Math.floor((2 ** 53 - 1) / 8000));
  });

  it.each([
    [{ algorithm: 'token-bucket' }, 5],
    [{ algorithm: 'token-bucket', burst: 9 }, 9],
    [{ algorithm: 'leaky-bucket' }, 1],
    [{ algorithm: 'leaky-bucket', cost: 3 }, 3],
    [{ algorithm: 'leaky-bucket', burst: 4 }, 4],
    [{ algorithm: 'leaky-bucket', window: '1s', shape: { maxDelay: '1s' } }, 6],
    [{ algorithm: 'sliding-window' }, 5],
  ] as const)('%o has burst %i', (options, burst) => {
    expect(definePolicy({ name: 'p', limits: [{ ...LIMIT, ...options }] }).limits[0]?.rule.burst).toBe(burst);
  });

  it('the sibling of a limit that shapes is as many times wider, whatever number is in force', () => {
    const shaping = { ...LIMIT, algorithm: 'leaky-bucket', shape: { maxDelay: '5s' } } as const;
    for (const limit of [600, () => 600, byTier({ free: 6, pro: 600 })]) {
      const [own, sibling] = definePolicy({ name: 'p', limits: [{ ...shaping, limit }] }).limits;
      expect(sibling?.rulesOf(600).rule).toMatchObject({
        burst: (own?.rulesOf(600).rule.burst ?? 0) * 10,
        limit: 6000,
        maxDelayMs: undefined,
      });
    }
  });

  it('lets at most one limit of a request shape: each would assume that the request starts at its own turn', () => {
    const shaping = (name: string) =>
      ({ ...LIMIT, name, algorithm: 'leaky-bucket', shape: { maxDelay: '1s' } }) as const;
    expect(withPolicy({ limits: [shaping('a'), shaping('b')] })).toThrow(
      'policy.limits must be limits of which at most one shapes; received "2 that do"',
    );
    const [a, b] = ['a', 'b'].map((name) => definePolicy({ name, limits: [shaping(name)] }));
    expect(() => createLimiter().register([a, b] as never)).toThrow('at most one shapes');
  });

  it('multiplies the burst of a backstop too, and never blocks or shapes by it', () => {
    const limits = [{ ...LIMIT, algorithm: 'leaky-bucket', burst: 4, block: '1m', shape: { maxDelay: '1s' } }] as const;
    expect(definePolicy({ name: 'p', limits }).limits[1]?.rule).toMatchObject({
      limit: 50,
      burst: 40,
      blockMs: 0,
      maxDelayMs: undefined,
    });
    const log = definePolicy({ name: 'p', limits: [{ ...LIMIT, algorithm: 'sliding-log', limit: 5000 }] });
    expect(log.limits[1]?.rule.limit).toBe(10_000);
  });

  it('grants locally a share of each limit, at least 1 and the constant cost', () => {
    const local = (limit: number, cost = 1, onStoreFailure?: PolicyOptions['onStoreFailure']) =>
      definePolicy({
        name: 'p',
        limits: [{ limit, window: '1m', per: 'ip' }],
        cost,
        ...(onStoreFailure && { onStoreFailure }),
      }).limits[0]?.localRule.limit;
    expect(local(100)).toBe(25);
    expect(local(100, 1, { local: 0.5 })).toBe(50);
    expect(local(2)).toBe(1);
    expect(local(20, 10)).toBe(10);
    expect(local(0)).toBe(0);
  });
});
