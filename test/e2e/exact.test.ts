// However many processes count, a client gets its 1000 requests a minute and not one more.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startRedis, type TestRedis } from '../../packages/core/src/testing/index.ts';
import { type Demo, startDemo } from './demo.ts';
import { EACH_UNIT, load, remainders, withStatus } from './load.ts';

let redis: TestRedis;
const demos: Demo[] = [];
beforeEach(async () => void (redis = await startRedis()));
afterEach(async () => {
  await Promise.all(demos.splice(0).map((demo) => demo.stop()));
  await redis.stop();
});

it('admits 1000 of 1500 requests, counting in memory', async () => {
  // A process's own clock starts with it: the whole run is in its first minute.
  const { url } = await start();
  const responses = await load(`${url}/`, 1500);
  const admitted = withStatus(200, responses);
  const denied = withStatus(429, responses);
  expect([admitted.length, denied.length]).toEqual([1000, 500]);
  expect(remainders(admitted)).toEqual(EACH_UNIT);
  expect(new Set(remainders(denied))).toEqual(new Set([0]));
  for (const { headers } of denied) expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
});

it('admits 1000 of 3000 requests to two processes, while Redis keeps forgetting the script', async () => {
  const env = { REDIS_URL: redis.url };
  await Promise.all([start(env), start(env)]);
  await vi.waitFor(async () => expect(await secondOfMinute()).toBeLessThan(45), { timeout: 20_000, interval: 100 });
  const minute = await minuteOfRedis();
  const flushing = setInterval(() => void redis.client.script('FLUSH'), 50);
  const responses = (await Promise.all(demos.map(({ url }) => load(`${url}/`, 1500)))).flat();
  clearInterval(flushing);
  expect(await minuteOfRedis()).toBe(minute);
  expect(await redis.client.info('errorstats')).toMatch(/errorstat_NOSCRIPT:count=[1-9]/);

  const degraded = responses.filter(({ headers }) => !headers.has('ratelimit'));
  expect(degraded).toEqual([]);
  const admitted = withStatus(200, responses);
  expect(admitted).toHaveLength(1000);
  expect(withStatus(429, responses)).toHaveLength(2000);
  expect(remainders(admitted)).toEqual(EACH_UNIT);
});

async function start(env?: Parameters<typeof startDemo>[0]): Promise<Demo> {
  const demo = await startDemo(env);
  demos.push(demo);
  return demo;
}

/** Windows are whole minutes of Redis's clock: within one, nothing comes back. */
async function minuteOfRedis(): Promise<number> {
  const [seconds = NaN] = await redis.client.time();
  return Math.floor(seconds / 60);
}

async function secondOfMinute(): Promise<number> {
  const [seconds = NaN] = await redis.client.time();
  return seconds % 60;
}
