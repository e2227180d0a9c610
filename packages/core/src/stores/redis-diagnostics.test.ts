import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createLimiter } from '../limiter.ts';
import { startRedis, type TestRedis } from '../testing/index.ts';
import type { Warning } from '../warnings.ts';
import { warnOfSettings } from './redis-diagnostics.ts';
import { redisStore } from './redis-store.ts';

let redis: TestRedis;
beforeAll(async () => void (redis = await startRedis()));
afterAll(() => redis.stop());

async function saidOf(connection: string | Redis): Promise<string[]> {
  const warnings: Warning[] = [];
  const store = redisStore(connection);
  const limiter = createLimiter({ store, onWarning: (warning) => void warnings.push(warning) });
  await limiter.ready();
  await redis.client.ping();
  await new Promise((resolve) => setTimeout(resolve, 50));
  await limiter.close();
  return warnings.map(({ code }) => code);
}

describe('the settings of a client that was handed in', () => {
  it('are told of where it would resend, or stay with a read-only master', async () => {
    const client = new Redis(redis.url);
    expect(await saidOf(client)).toEqual(['client-settings']);
    client.disconnect();
  });

  it('are right as the store sets them for its own', async () => {
    expect(await saidOf(redis.url)).toEqual([]);
    const client = new Redis(redis.url, { maxRetriesPerRequest: 0, reconnectOnError: () => false });
    expect(await saidOf(client)).toEqual([]);
    client.disconnect();
  });

  it.each([
    [{}, /sends commands again.*; it stays with/],
    [{ maxRetriesPerRequest: null }, /sends commands again/],
    [{ autoResendUnfulfilledCommands: false }, /given never answers commands.*; it stays with a master/],
    [{ maxRetriesPerRequest: 0, reconnectOnError: () => true, retryStrategy: null }, /never connects again/],
  ])('%o', (settings, message) => {
    const warn = vi.fn<(code: string, sentence: string) => void>();
    warnOfSettings(settings, warn);
    expect(warn).toHaveBeenCalledExactlyOnceWith('client-settings', expect.stringMatching(message));
  });

  it('that are not known say nothing', () => {
    const warn = vi.fn<(code: string, sentence: string) => void>();
    warnOfSettings(undefined, warn);
    expect(warn).not.toHaveBeenCalled();
  });
});

describe('a Redis that evicts', () => {
  it.each([
    ['volatile-lru', '100mb', ['store-evicts']],
    ['allkeys-random', '100mb', ['store-evicts']],
    ['noeviction', '100mb', []],
    ['allkeys-lru', '0', []],
  ])('%s with maxmemory %s: %j', async (policy, maxmemory, said) => {
    await redis.client.config('SET', 'maxmemory', maxmemory, 'maxmemory-policy', policy);
    expect(await saidOf(redis.url)).toEqual(said);
    await redis.client.config('SET', 'maxmemory', '0', 'maxmemory-policy', 'noeviction');
  });

  it('that does not tell is not asked again', async () => {
    await redis.client.call('ACL', 'SETUSER', 'limits', 'on', '>secret', '~*', '+@all', '-info');
    expect(await saidOf(redis.url.replace('redis://', 'redis://limits:secret@'))).toEqual([]);
  });
});
