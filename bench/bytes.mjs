// How much memory of Redis each algorithm takes per key, beside the smallest key there can be (`SET k 1 PX`) under the
// same name. `pnpm bench:bytes`
import { createLimiter, definePolicy } from '@tollgate/core';
import { redisStore } from '@tollgate/core/redis';
import { startRedis } from './redis.mjs';

/** @typedef {{ algorithm: import('@tollgate/core').AlgorithmName; limit: number; burst?: number }} Limit */

const KEYS = 8000;
const { client, stop } = await startRedis();

/** A limiter for each ms: a log merges what falls into one ms, and each hit is to have its own. */
const start = Date.now();
const limiters = Array.from({ length: 100 }, (_, hit) =>
  createLimiter({ store: redisStore(client, { now: () => start + hit }), deadline: '10s', onWarning: () => {} }),
);

/** @type {Limit} */
const log = { algorithm: 'sliding-log', limit: 1000 };
/** @type {{ name: string; limit: Limit; hits: number }[]} */
const subjects = [
  { name: 'fixed window', limit: { algorithm: 'fixed-window', limit: 1000 }, hits: 1 },
  { name: 'sliding window', limit: { algorithm: 'sliding-window', limit: 1000 }, hits: 1 },
  { name: 'token bucket', limit: { algorithm: 'token-bucket', limit: 1000 }, hits: 1 },
  { name: 'leaky bucket', limit: { algorithm: 'leaky-bucket', limit: 1000, burst: 1000 }, hits: 1 },
  { name: 'sliding log, 1 hit', limit: log, hits: 1 },
  { name: 'sliding log, 10 hits', limit: log, hits: 10 },
  { name: 'sliding log, 100 hits', limit: log, hits: 100 },
];

// The first fill also pays for what Redis keeps: buffers, arenas.
await bytesPerKey((i) => take({ algorithm: 'sliding-window', limit: 1000 }, i, 1));
const rows = [];
for (const { name, limit, hits } of subjects) {
  const ours = await bytesPerKey((i) => take(limit, i, hits));
  const keys = await client.keys('*');
  const bare = await bytesPerKey(async (i) => void (await client.set(keys[i] ?? '', 1, 'PX', 600_000)));
  const usage = await moreByMemoryUsage(keys[0] ?? '', limit, hits);
  rows.push({
    'algorithm': name,
    'bytes per key': ours,
    'SET k 1 PX': bare,
    'more': ours - bare,
    'more by MEMORY USAGE': usage,
  });
}
console.table(rows);
await stop();

/**
 * The growth of Redis's used memory, per key: entry, name, value and expiry.
 * @param {(i: number) => Promise<void>} fill
 */
async function bytesPerKey(fill) {
  await client.flushall();
  const before = await usedMemory();
  for (let i = 0; i < KEYS; i += 500) await Promise.all(Array.from({ length: 500 }, (_, j) => fill(i + j)));
  return Math.round(((await usedMemory()) - before) / KEYS);
}

/**
 * @param {string} key
 * @param {Limit} limit
 * @param {number} hits
 */
async function moreByMemoryUsage(key, limit, hits) {
  await client.flushall();
  await client.set(key, 1, 'PX', 600_000);
  const bare = await client.memory('USAGE', key);
  await client.flushall();
  await take(limit, 0, hits);
  return Number(await client.memory('USAGE', (await client.keys('*'))[0] ?? '')) - Number(bare);
}

async function usedMemory() {
  return Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1]);
}

/**
 * @param {Limit} limit
 * @param {number} user
 * @param {number} hits
 */
async function take(limit, user, hits) {
  // A name for each algorithm, all of one length: what is compared is the value, not the key.
  const [first = '', second = ''] = limit.algorithm.split('-');
  const name = `read-${first.slice(0, 3)}-${second.slice(0, 3)}`;
  const policy = definePolicy({ name, limits: [{ window: '10m', per: 'user', name: 'user', ...limit }] });
  for (const limiter of limiters.slice(0, hits)) {
    const ctx = { method: 'GET', path: '/', route: undefined, header: () => undefined, ip: '127.0.0.1', raw: {} };
    await limiter.check({ ...ctx, user: `${100_000 + user}` }, policy);
  }
}
