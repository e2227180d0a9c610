import { Redis } from 'ioredis';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../algorithms/algorithm.ts';
import { ALGORITHM_NAMES } from '../algorithms/algorithms.ts';
import type { Charge } from '../policy/charge.ts';
import { createLimiter } from '../limiter.ts';
import { createClock, describeStore, freshPrefix, startRedis, type TestRedis, toCharge } from '../testing/index.ts';
import { startTcpProxy } from '../testing/tcp-proxy.ts';
import type { Warning } from '../warnings.ts';
import { Deadline } from './deadline.ts';
import { redisKey } from './redis-key.ts';
import { redisStore, type RedisStoreOptions } from './redis-store.ts';
import { ADJUST, TAKE } from './scripts.generated.ts';
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
  return answers[0]?.answers[0] as Answer;
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
    'http://u:secret@h',
    'redis://:secret@127.0.0.1:99999',
    'redis://u:secret%zz@h:1',
    'http://:se/cret@h',
    'https://tok-secret@h',
    'redis://h:1:secret',
    'secret',
  ])('shows nothing of the unusable URL %s', (url) => {
    let error: unknown;
    try {
      const store = redisStore(url);
      stores.push(store);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ isTollgateConfigError: true });
    expect(inspect(error, { depth: 5 })).not.toMatch(/secret|cret@/);
  });

  it('agrees with Redis on the SHA-1 of its scripts', async () => {
    for (const { source, sha1 } of [TAKE, ADJUST]) expect(await redis.client.script('LOAD', source)).toBe(sha1);
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

  it.each(ALGORITHM_NAMES)(
    '%s: replaces a key of another type and values that it did not write, and harms no neighbour',
    async (algorithm) => {
      const prefix = freshPrefix();
      const store = storeWith({ prefix, now: createClock() });
      const limit = { ...FIVE, algorithm, ...(algorithm.endsWith('bucket') && { burst: 5 }) };
      const neighbour = toCharge(FIVE, 'neighbour');
      await takeOne(store, neighbour);
      const numbers = ['', '-5', '1', '12345', '1e5', 'nan', 'inf', '0x10', ' 1', '9'.repeat(100), '00000', '1.5'];
      const lists = ['1:2', '1:2:0', ':::', '1:2:3:4', `${'9'.repeat(30)}:1:1`, 'a:b:c', '1:2:3 '];
      const others = [
        'abc',
        '٣٣٣',
        '\0',
        'L',
        'Labc',
        'L'.repeat(12),
        'l123',
        '!',
        '!5!',
        '!a!b!',
        '!5!5',
        `!${'9'.repeat(40)}!1!`,
        '!1!1!x',
      ];
      for (const [i, value] of [...numbers, ...lists, ...others, undefined].entries()) {
        const charge = toCharge(limit, `g${i}`);
        const key = redisKey(`${prefix}:`, charge);
        if (value === undefined) await redis.client.lpush(key, 'x');
        else await redis.client.set(key, value);
        const [taken] = await store.take([[charge, { ...neighbour, cost: 0 }]], new Deadline(2000));
        const four = { allowed: true, remaining: 4 };
        expect(taken?.answers, `garbage ${JSON.stringify(value)}`).toMatchObject([four, four]);
        expect(await redis.client.pttl(key)).toBeGreaterThan(0);
      }
    },
  );

  it.each(ALGORITHM_NAMES)('%s: makes changes to a key of another type as if there were none', async (algorithm) => {
    const prefix = freshPrefix();
    const store = storeWith({ prefix });
    const charge = toCharge({ ...FIVE, algorithm, ...(algorithm.endsWith('bucket') && { burst: 5 }) }, 'a');
    const kinds = ['refund', 'reset', 'unblock', 'debit', 'block'] as const;
    for (const kind of kinds) {
      await redis.client.del(redisKey(`${prefix}:`, charge));
      await redis.client.sadd(redisKey(`${prefix}:`, charge), 'x');
      const [changed] = await store.adjust([{ kind, charge, units: 1, at: 0 }], new Deadline(2000));
      expect({ kind, changed }).toEqual({ kind, changed: kind === 'debit' || kind === 'block' });
    }
  });

  it('leaves limits that another one denies unchanged to the bit', async () => {
    const prefix = freshPrefix();
    const store = storeWith({ prefix });
    const charges = [
      toCharge({ algorithm: 'token-bucket', limit: 100, window: '1h' }, 'user', 3),
      toCharge({ algorithm: 'sliding-log', limit: 100, window: '1h' }, 'tenant', 3),
      toCharge({ algorithm: 'sliding-window', limit: 5, window: '1h' }, 'address', 3),
    ];
    const dump = async () => {
      const keys = (await redis.client.keys(`${prefix}:*`)).toSorted();
      return Promise.all(
        keys.map(async (key) => [key, await redis.client.getBuffer(key), await redis.client.pexpiretime(key)]),
      );
    };
    await store.take([charges], new Deadline(2000));
    const before = await dump();
    expect(before).toHaveLength(3);
    for (let i = 0; i < 5; i++) {
      const [taken] = await store.take([charges], new Deadline(2000));
      expect(taken?.answers.map(({ allowed }) => allowed)).toEqual([true, true, false]);
    }
    expect(await dump()).toEqual(before);
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
    // By the server's clock, one rule, one request: its one limit is on the first key by the first rule at cost 1.
    const good = ['-1', '1', 'sw+', '5', '60000', '5', '-1', '0', '1', '1', '1', '1', '1', '1'];
    for (let i = 0; i < good.length; i++) {
      for (const wrong of ['nan', '-2', '1.5', 'inf', '1e300', 'x', '']) {
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

  it('writes nothing at all when a request is denied or looked at', async () => {
    const store = storeWith({ prefix: freshPrefix() });
    const passes = toCharge({ limit: 100, window: '1h', name: 'wide' }, 'a');
    const denies = toCharge({ limit: 1, window: '1h', name: 'tight' }, 'a');
    await store.take([[passes, denies]], new Deadline(2000));
    const changes = async () =>
      Number(/rdb_changes_since_last_save:(\d+)/.exec(await redis.client.info('persistence'))?.[1]);
    const before = await changes();
    for (let i = 0; i < 5; i++) {
      await store.take([[passes, denies]], new Deadline(2000));
      await store.peek([passes, denies], new Deadline(2000));
    }
    expect(await changes()).toBe(before);
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

  it('has answered in time when it was this process that could not listen', async () => {
    const store = storeWith();
    await store.ready?.();
    const deadline = new Deadline(20);
    const taken = deadline.race(Promise.resolve(store.take([[toCharge(FIVE, 'a')]], deadline)));
    // Holds up the event loop, while Redis answers.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    await expect(taken).resolves.toHaveLength(1);
  });

  it('counts once when the connection is cut after Redis has executed the script', async () => {
    const proxy = await startTcpProxy(redis.port);
    const prefix = freshPrefix();
    const store = storeWith({ prefix }, `redis://127.0.0.1:${proxy.port}`);
    await store.ready?.();
    const charge = toCharge({ limit: 100, window: '31d' }, 'a');
    await takeOne(store, charge);
    proxy.set('cut');
    expect(await outcomeOf(store, charge)).not.toBe('allowed');
    proxy.set('pass');
    await eventually(async () => (await outcomeOf(store, charge)) === 'allowed');
    expect((await takeOne(storeWith({ prefix }), { ...charge, cost: 0 })).remaining).toBe(97);
    await proxy.stop();
  });

  it('does not run a script again whose absence it learns too late', async () => {
    const prefix = freshPrefix();
    const store = storeWith({ prefix });
    const charge = toCharge({ limit: 100, window: '31d' }, 'a');
    await takeOne(store, charge);
    await redis.client.script('FLUSH');
    redis.pause();
    const deadline = new Deadline(30);
    const pending = Promise.resolve(store.take([[charge]], deadline));
    await expect(deadline.race(pending)).rejects.toThrow('within 30 ms');
    redis.resume();
    await expect(pending).rejects.toThrow('NOSCRIPT');
    expect((await takeOne(store, { ...charge, cost: 0 })).remaining).toBe(99);
  });

  it('looks for the new master when the old one says that it is read-only', async () => {
    const own = await startRedis();
    const store = storeWith({}, own.url);
    await takeOne(store, toCharge(FIVE, 'a'));
    const connections = async () =>
      Number(/total_connections_received:(\d+)/.exec(await own.client.info('stats'))?.[1]);
    const before = await connections();
    await own.client.call('REPLICAOF', '127.0.0.1', '1');
    await outcomeOf(store, toCharge(FIVE, 'a'));
    await eventually(async () => (await connections()) > before);
    expect(await connections()).toBeGreaterThan(before);
    await own.stop();
  });

  it('fails at once on a client that was ended, and ready() does not wait for a silent server for ever', async () => {
    const ended = new Redis(redis.port, '127.0.0.1', { lazyConnect: true });
    ended.disconnect();
    expect(await outcomeOf(storeWith({}, ended), toCharge(FIVE, 'a'))).toBe('unavailable');
    const proxy = await startTcpProxy(redis.port);
    proxy.set('swallow');
    const limiter = createLimiter({ store: storeWith({}, `redis://127.0.0.1:${proxy.port}`), onWarning: () => {} });
    await expect(limiter.ready()).rejects.toThrow(/within 5000 ms|not connected/);
    await proxy.stop();
  }, 10_000);

  it('decides through clients that give numbers as strings', async () => {
    const client = new Redis(redis.port, '127.0.0.1', { stringNumbers: true });
    expect(await takeOne(storeWith({ prefix: freshPrefix() }, client), toCharge(FIVE, 'a'))).toMatchObject({
      allowed: true,
      remaining: 4,
    });
    client.disconnect();
  });

  it('tells the limiter of each new trouble with the connection once', async () => {
    const own = await startRedis();
    await own.client.config('SET', 'requirepass', 'right-password');
    const warnings: Warning[] = [];
    const url = own.url.replace('redis://', 'redis://:wrong-password@');
    const limiter = createLimiter({ store: storeWith({}, url), onWarning: (warning) => warnings.push(warning) });
    await expect(limiter.ready()).rejects.toThrow('WRONGPASS');
    await eventually(async () => warnings.some(({ message }) => message.includes('WRONGPASS')));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(warnings.filter(({ message }) => message.includes('WRONGPASS'))).toHaveLength(1);
    expect(JSON.stringify(warnings)).not.toContain('wrong-password');
    await own.stop();
  });

  it('rejects when a demoted master is read-only, and decides again when it is promoted', async () => {
    const own = await startRedis();
    const store = storeWith({}, own.url);
    const charge = toCharge(FIVE, 'a');
    expect(await outcomeOf(store, charge)).toBe('allowed');
    await own.client.call('REPLICAOF', '127.0.0.1', '1');
    expect(await outcomeOf(store, charge)).toMatch(/refused|unavailable/);
    await own.client.call('REPLICAOF', 'NO', 'ONE');
    await eventually(async () => (await outcomeOf(store, charge)) === 'allowed');
    await own.stop();
  });
});
