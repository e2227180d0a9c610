import { Redis } from 'ioredis';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createLimiter } from '../limiter.ts';
import type { LimiterOptions } from '../limiter-options.ts';
import { definePolicy } from '../policy/define-policy.ts';
import { freshPrefix, requestOf, startRedis, type TestRedis } from '../testing/index.ts';
import type { Warning } from '../warnings.ts';
import { redisStore } from './redis-store.ts';

const policy = definePolicy({ name: 'p', limits: [{ limit: 1_000_000, window: '1h', per: 'ip' }] });
const settings = { maxRetriesPerRequest: 0, reconnectOnError: () => false } as const;

describe('a connection to Redis', () => {
  let redis: TestRedis;
  beforeAll(async () => void (redis = await startRedis()));
  afterAll(() => redis.stop());

  function limiterOn(connection: string | Redis, options: LimiterOptions = {}) {
    const warnings: Warning[] = [];
    const store = redisStore(connection, { prefix: freshPrefix() });
    const limiter = createLimiter({ store, onWarning: (warning) => void warnings.push(warning), ...options });
    const ask = async () => limiter.check(requestOf(), policy);
    return { limiter, ask, codes: () => warnings.map(({ code }) => code), warnings };
  }

  it('of a client with a timeout of its own opens the breaker as the deadline does', async () => {
    const client = new Redis(redis.url, { ...settings, commandTimeout: 20 });
    const { limiter, ask } = limiterOn(client);
    await limiter.ready();
    const sent = vi.spyOn(client, 'evalsha');
    redis.pause();
    for (let i = 0; i < 50; i++) expect(await ask()).toMatchObject({ source: 'local' });
    expect(sent.mock.calls.length).toBeLessThan(10);
    redis.resume();
    client.disconnect();
  });

  it('in which the database cannot be selected is not used', async () => {
    const { limiter, ask, codes } = limiterOn(`${redis.url}/99`);
    await limiter.ready().catch(() => {});
    await vi.waitFor(() => expect(codes()).toContain('store-connection'));
    expect(await ask()).toMatchObject({ source: 'local' });
    expect(codes()).toContain('store-misconfigured');
    expect(await redis.client.dbsize()).toBe(0);
    await limiter.close();
  });

  it('of a lazy client is left to the application until it is needed', async () => {
    const client = new Redis(redis.url, { ...settings, lazyConnect: true });
    const { limiter, ask } = limiterOn(client);
    await client.connect();
    expect(await ask()).toMatchObject({ source: 'store' });
    const other = new Redis(redis.url, { ...settings, lazyConnect: true });
    expect(await limiterOn(other).ask()).toMatchObject({ source: 'store' });
    await limiter.close();
    for (const one of [client, other]) one.disconnect();
  });

  it('that is closed before it is made is waited for no longer', async () => {
    const silent = createServer();
    await new Promise<void>((resolve) => void silent.listen(0, '127.0.0.1', resolve));
    const { limiter, codes } = limiterOn(`redis://127.0.0.1:${(silent.address() as AddressInfo).port}`);
    const ready = limiter.ready().catch((error: Error) => error.message);
    await limiter.close();
    expect(await ready).toMatch('not connected');
    expect(codes()).toEqual([]);
    silent.close();
  });

  it('that comes and goes tells of one trouble once', async () => {
    const own = await startRedis();
    const { limiter, warnings } = limiterOn(own.url);
    await limiter.ready();
    for (let i = 0; i < 2; i++) {
      await own.kill();
      // Long enough for several attempts to fail.
      await new Promise((resolve) => setTimeout(resolve, 700));
      await own.restart();
      await vi.waitFor(() => limiter.ready(), { timeout: 5000 });
    }
    const said = warnings.filter(({ code }) => code === 'store-connection').map(({ message }) => message);
    expect(said).toEqual([expect.stringContaining('ECONNREFUSED')]);
    await limiter.close();
    await own.stop();
  });

  it('tells of eviction also where Redis comes later', async () => {
    const own = await startRedis();
    await own.kill();
    const { limiter, codes } = limiterOn(own.url);
    await expect(limiter.ready()).rejects.toThrow('not connected');
    await own.restart();
    const admin = new Redis(own.url);
    await admin.config('SET', 'maxmemory', '100mb', 'maxmemory-policy', 'allkeys-lru');
    await vi.waitFor(() => expect(codes()).toContain('store-evicts'), { timeout: 5000 });
    admin.disconnect();
    await limiter.close();
    await own.stop();
  });

  it('quotes no password, wherever an error is printed', async () => {
    const url = redis.url.replace('redis://', 'redis://default:hunter2secret@');
    const own = await startRedis();
    await own.client.config('SET', 'requirepass', 'another');
    const { limiter, warnings } = limiterOn(url.replace(/:\d+$/, `:${own.port}`));
    const error: unknown = await limiter.ready().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    const { inspect } = await import('node:util');
    expect(inspect([error, warnings], { depth: 10, showHidden: true })).not.toContain('hunter2secret');
    expect(error).toMatchObject({ code: 'misconfigured' });
    await limiter.close();
    await own.stop();
  });
});
