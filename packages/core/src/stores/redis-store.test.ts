import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../algorithms/algorithm.ts';
import type { Charge } from '../policy/charge.ts';
import { createClock, describeStore, freshPrefix, startRedis, type TestRedis, toCharge } from '../testing/index.ts';
import { Deadline } from './deadline.ts';
import { redisKey } from './redis-key.ts';
import { redisStore, type RedisStoreOptions } from './redis-store.ts';
import { TAKE } from './scripts.generated.ts';
import type { Store } from './store.ts';

let redis: TestRedis;
const stores: Store[] = [];
beforeAll(async () => void (redis = await startRedis()));
afterAll(() => redis.stop());
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close?.();
});

describeStore({ name: 'redis', create: (now) => redisStore(redis.url, { prefix: freshPrefix(), now }) });

const FIVE = { limit: 5, window: '1m' } as const;

function storeWith(options: RedisStoreOptions = {}, connection: string | Redis = redis.url): Store {
  const store = redisStore(connection, options);
  stores.push(store);
  return store;
}

async function takeOne(store: Store, charge: Charge, deadline = new Deadline(2000)): Promise<Answer> {
  const answers = await store.take([[charge]], deadline);
  return answers[0]?.[0] as Answer;
}

/** What becomes of a take: the answer, or the error's code or first word. */
async function outcomeOf(store: Store, charge: Charge): Promise<string> {
  try {
    return (await takeOne(store, charge)).allowed ? 'allowed' : 'denied';
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return code ?? (message.split(' ')[0] as string);
  }
}

async function eventually(check: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 200; i++) {
    if (await check()) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  expect.fail('did not come true within 5 s');
}

describe('redisStore', () => {
  it.each([
    [undefined, {}, 'redisStore.connection must be a redis:// URL or an ioredis client; received undefined'],
    [
      'localhost:6379',
      {},
      'redisStore.connection must be a URL that starts with redis:// or rediss://; received "localhost:6379"',
    ],
    ['http://u:secret@h', {}, 'received "http://u:***@h"'],
    [{}, {}, 'received an object'],
    [
      'redis://h',
      { prefix: 'a{b}' },
      'redisStore.prefix must be up to 64 letters, digits, or _ - . : /; received "a{b}"',
    ],
    ['redis://h', { prefix: 5 }, 'redisStore.prefix must be'],
    ['redis://h', { now: 5 }, 'redisStore.now must be a function'],
    ['redis://h', { perfix: 'x' }, 'redisStore has no option "perfix"; did you mean prefix?'],
  ])('refuses %o with %o', (connection, options, message) => {
    expect(() => redisStore(connection as string, options as RedisStoreOptions)).toThrow(message);
  });

  it('agrees with Redis on the SHA-1 of the script', async () => {
    expect(await redis.client.script('LOAD', TAKE.source)).toBe(TAKE.sha1);
  });

  it('spells keys with prefix, version, tag and what shapes the state, each with a TTL', async () => {
    const prefix = freshPrefix();
    const clock = createClock(1_700_000_070_000);
    const charge = { ...toCharge(FIVE, '2001:db8::/64'), tag: '2001:db8::/48' };
    await takeOne(storeWith({ prefix, now: clock }), charge);
    const key = `${prefix}:tg1:{2001:db8::/48}:test:ip-1m:sw60000:2001:db8::/64`;
    expect(await redis.client.keys(`${prefix}*`)).toEqual([key]);
    // To the end of the next window, 90 s from here, and a second.
    const ttl = await redis.client.pttl(key);
    expect(ttl).toBeGreaterThan(89_000);
    expect(ttl).toBeLessThanOrEqual(91_000);
  });

  it('reads its own clock where it is given none', async () => {
    const store = storeWith({ prefix: freshPrefix() });
    const { resetMs } = await takeOne(store, toCharge(FIVE, 'a'));
    const [seconds, micros] = await redis.client.time();
    const now = Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
    expect(Math.abs(resetMs - (120_000 - (now % 60_000)))).toBeLessThan(1000);
  });

  it('keeps a counter as one integer, 16 bytes more than the smallest key there can be', async () => {
    const prefix = freshPrefix();
    const charge = toCharge({ limit: 9999, window: '1m' }, '203.0.113.7');
    const clock = createClock();
    const store = storeWith({ prefix, now: clock });
    await takeOne(store, { ...charge, cost: 9999 });
    clock.advance(90_000);
    await takeOne(store, { ...charge, cost: 4000 });
    const key = redisKey(`${prefix}:`, charge);
    expect(await redis.client.object('ENCODING', key)).toBe('int');
    const bare = key.replace('tg1', 'tg0');
    await redis.client.set(bare, 1, 'PX', 60_000);
    expect(
      ((await redis.client.memory('USAGE', key)) ?? 0) - ((await redis.client.memory('USAGE', bare)) ?? 0),
    ).toBeLessThanOrEqual(16);
  });

  it('counts once per call while its scripts are flushed away', async () => {
    const store = storeWith({ prefix: freshPrefix() });
    await store.ready?.();
    const charge = toCharge({ limit: 100, window: '31d' }, 'a');
    let flushes = 0;
    const flush = setInterval(() => void redis.client.script('FLUSH').then(() => flushes++), 2);
    const outcomes: string[] = [];
    for (let round = 0; round < 40; round++)
      outcomes.push(...(await Promise.all(Array.from({ length: 5 }, () => outcomeOf(store, charge)))));
    clearInterval(flush);
    expect(flushes).toBeGreaterThan(0);
    expect(outcomes.filter((outcome) => outcome === 'allowed')).toHaveLength(100);
    expect(outcomes.filter((outcome) => outcome === 'denied')).toHaveLength(100);
  });

  it('replaces a key of another type and values that it did not write, and harms no neighbour', async () => {
    const prefix = freshPrefix();
    const store = storeWith({ prefix, now: createClock() });
    const neighbour = toCharge(FIVE, 'neighbour');
    await takeOne(store, neighbour);
    const garbage = [
      '',
      'abc',
      '-5',
      '1',
      '12345',
      '1e5',
      'nan',
      'inf',
      '0x10',
      ' 1',
      '9'.repeat(100),
      '00000',
      '٣٣٣',
      '1.5',
      '\0',
    ];
    for (const [i, value] of [...garbage, undefined].entries()) {
      const charge = toCharge(FIVE, `g${i}`);
      const key = redisKey(`${prefix}:`, charge);
      if (value === undefined) await redis.client.lpush(key, 'x');
      else await redis.client.set(key, value);
      const answers = await store.take([[charge, { ...neighbour, cost: 0 }]], new Deadline(2000));
      expect(answers[0], `garbage ${JSON.stringify(value)}`).toMatchObject([
        { allowed: true, remaining: 4 },
        { allowed: true, remaining: 4 },
      ]);
      expect(await redis.client.pttl(key)).toBeGreaterThan(0);
    }
  });

  it('gives a key that lost its TTL one with the next write, and decides the same without it', async () => {
    const prefix = freshPrefix();
    const store = storeWith({ prefix });
    const charge = toCharge(FIVE, 'a');
    const key = redisKey(`${prefix}:`, charge);
    await takeOne(store, charge);
    await redis.client.persist(key);
    expect(await takeOne(store, charge)).toMatchObject({ remaining: 3 });
    expect(await redis.client.pttl(key)).toBeGreaterThan(0);
  });

  it('writes nothing for a denial, a look, or arguments that are wrong', async () => {
    const prefix = freshPrefix();
    const store = storeWith({ prefix });
    await takeOne(store, toCharge(FIVE, 'look', 0));
    await takeOne(store, toCharge(FIVE, 'never', 6));
    // One rule, one request: its one limit is on the first key by the first rule at cost 1.
    const good = ['1', '1', 'sw', '5', '60000', '0', '1', '1', '1', '1'];
    for (let i = 0; i < good.length; i++) {
      for (const wrong of ['nan', '-1', '1.5', 'inf', '1e300', 'x', '']) {
        const args = good.map((arg, at) => (at === i ? wrong : arg));
        await expect(redis.client.eval(TAKE.source, 1, `${prefix}:direct`, ...args)).rejects.toThrow(
          /argument \d+ is not/,
        );
      }
    }
    expect(await redis.client.keys(`${prefix}*`)).toEqual([]);
    await redis.client.eval(TAKE.source, 1, `${prefix}:direct`, ...good);
    expect(await redis.client.keys(`${prefix}*`)).toHaveLength(1);
  });

  it('uses a client that it is given as it is, and leaves it open', async () => {
    const client = new Redis(redis.port, '127.0.0.1', { lazyConnect: true });
    const store = redisStore(client, { prefix: freshPrefix() });
    expect(await outcomeOf(store, toCharge(FIVE, 'a'))).toBe('allowed');
    await store.close?.();
    expect(client.status).toBe('ready');
    client.disconnect();
  });

  it('ready() rejects where there is no Redis, and decisions fail at once from then on', async () => {
    const store = storeWith({}, 'redis://127.0.0.1:1');
    await expect(store.ready?.()).rejects.toThrow('Redis is not connected');
    expect(await outcomeOf(store, toCharge(FIVE, 'a'))).toBe('unavailable');
  });

  it('does not send what its deadline has given up on', async () => {
    const prefix = freshPrefix();
    const store = storeWith({ prefix });
    const deadline = new Deadline(1);
    deadline.expired = true;
    await expect(takeOne(store, toCharge(FIVE, 'late'), deadline)).rejects.toThrow('too late');
    expect(await redis.client.keys(`${prefix}*`)).toEqual([]);
  });
});

describe('a Redis in trouble', () => {
  it('fails at once when it was killed, and decides again when it is back', async () => {
    const own = await startRedis();
    const store = storeWith({}, own.url);
    const charge = toCharge(FIVE, 'a');
    expect(await outcomeOf(store, charge)).toBe('allowed');
    await own.kill();
    await eventually(async () => (await outcomeOf(store, charge)) === 'unavailable');
    await own.restart();
    await eventually(async () => (await outcomeOf(store, charge)) === 'allowed');
    await own.stop();
  });

  it('rejects at the deadline while it is paused, and what was sent counts once', async () => {
    const prefix = freshPrefix();
    const store = storeWith({ prefix });
    const charge = toCharge({ limit: 100, window: '1h' }, 'a');
    await takeOne(store, charge);
    redis.pause();
    const sent = Array.from({ length: 5 }, () => {
      const deadline = new Deadline(50);
      return deadline.race(Promise.resolve(store.take([[charge]], deadline)));
    });
    expect((await Promise.allSettled(sent)).map(({ status }) => status)).toEqual(Array(5).fill('rejected'));
    redis.resume();
    // The one before, at most the five that were on their way, and this one.
    const { remaining } = await takeOne(store, charge);
    expect(remaining).toBeGreaterThanOrEqual(93);
    expect(remaining).toBeLessThanOrEqual(98);
  });

  it('rejects when a demoted master is read-only, and decides again when it is promoted', async () => {
    const own = await startRedis();
    const store = storeWith({}, own.url);
    const charge = toCharge(FIVE, 'a');
    expect(await outcomeOf(store, charge)).toBe('allowed');
    await own.client.call('REPLICAOF', '127.0.0.1', '1');
    expect(await outcomeOf(store, charge)).toMatch(/READONLY|unavailable/);
    await own.client.call('REPLICAOF', 'NO', 'ONE');
    await eventually(async () => (await outcomeOf(store, charge)) === 'allowed');
    await own.stop();
  });
});
