import { describe, expect, it } from 'vitest';
import { type Partition, partition } from '../identity/partition.ts';
import { definePolicy } from './define-policy.ts';
import type { LimitOptions, PolicyOptions } from './policy.ts';
import { byTier } from './tiers.ts';
import { createLimiter } from '../limiter.ts';

const LIMIT: LimitOptions = { limit: 5, window: '1m' };

function withPolicy(options: Record<string, unknown>): () => unknown {
  return () => definePolicy({ name: 'p', limits: [LIMIT], ...options });
}

describe('definePolicy', () => {
  it('names a limit alike however its window is spelt, or a new spelling would be a second budget', () => {
    const paths = ['60s', 60_000, '1m'].map(
      (window) => definePolicy({ name: 'p', limits: [{ ...LIMIT, window: window as '1m' }] }).limits[0]?.rule.path,
    );
    expect(new Set(paths)).toEqual(new Set(['p:identity-1m:sw60000']));
  });

  it('lets nobody take a limit out, or change one', () => {
    const tiers = { free: 5 };
    const per: Partition[] = ['ip'];
    const policy = definePolicy({ name: 'p', limits: [{ ...LIMIT, per, limit: { tiers } }] });
    tiers.free = Number.NaN;
    per.push('route');
    expect(policy.limits[0]).toMatchObject({ per: ['ip'], limit: { tiers: { free: 5 } } });
    expect(() => (policy.limits as unknown[]).pop()).toThrow(TypeError);
    expect(() => Object.assign(policy, { limits: [] })).toThrow(TypeError);
  });

  it('names limits by partition and window', () => {
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
