// Redis stops in the middle of the traffic: nobody waits, nobody is told a quota that nobody knows, and it ends by itself.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startRedis, type TestRedis } from '../../packages/core/src/testing/index.ts';
import { type Demo, startDemo } from './demo.ts';
import { startTraffic, type Traffic } from './traffic.ts';

const DEADLINE_MS = 100;
const PATIENCE = { timeout: 10_000, interval: 20 };

let redis: TestRedis;
let demo: Demo;
let traffic: Traffic;
beforeEach(async () => {
  redis = await startRedis();
  demo = await startDemo({ REDIS_URL: redis.url });
  traffic = startTraffic(`${demo.url}/`);
});
afterEach(async () => {
  redis.resume();
  await traffic.stop();
  await demo.stop();
  await redis.stop();
});

it.each([
  { what: 'hangs', stop: async () => redis.pause(), start: async () => redis.resume() },
  { what: 'crashes', stop: () => redis.kill(), start: () => redis.restart() },
])('answers in time while Redis $what, and recovers', async ({ stop, start }) => {
  const known = () => traffic.samples.filter(({ quota }) => quota.length > 0);
  const since = (ms: number) => traffic.samples.filter(({ sentAt }) => sentAt >= ms);

  await vi.waitFor(() => expect(known().length).toBeGreaterThan(100), PATIENCE);
  await stop();
  // The signal may take a moment to arrive.
  const stoppedAt = performance.now() + 20;
  await vi.waitFor(() => expect(since(stoppedAt).length).toBeGreaterThan(100), PATIENCE);
  const startingAt = performance.now();
  await start();
  const startedAt = performance.now();
  await vi.waitFor(() => expect(known().some(({ sentAt }) => sentAt >= startedAt)).toBe(true), PATIENCE);
  const recoveredAt = performance.now();
  await vi.waitFor(() => expect(since(recoveredAt).length).toBeGreaterThan(100), PATIENCE);
  // It says so when it has held for a second.
  await vi.waitFor(() => expect(demo.output()).toContain('decides again'), PATIENCE);
  await traffic.stop();

  const duringOutage = since(stoppedAt).filter(({ answeredAt }) => answeredAt < startingAt);
  expect(duringOutage.length).toBeGreaterThan(50);
  expect(duringOutage.flatMap(({ quota }) => quota)).toEqual([]);
  expect(since(recoveredAt).filter(({ quota }) => quota.length === 0)).toEqual([]);
  expect(traffic.samples.filter(({ status }) => status !== 200 && status !== 429)).toEqual([]);

  const slowestMs = Math.max(...traffic.samples.map(({ sentAt, answeredAt }) => answeredAt - sentAt));
  expect(slowestMs - traffic.lagMs()).toBeLessThanOrEqual(DEADLINE_MS + 50);

  // The operator hears of it, once each.
  expect(demo.output().match(/cannot decide/g)).toHaveLength(1);
  expect(demo.output().match(/decides again/g)).toHaveLength(1);
});
