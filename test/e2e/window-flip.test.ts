// The bound of the sliding window, at its windows' edges, over two instances: in any time T up to W, at most
// floor(L·(1 + T/W)) units.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLimiter, definePolicy, type Limiter, type RequestContext } from '../../packages/core/src/index.ts';
import { redisStore } from '../../packages/core/src/redis.ts';
import { startRedis, type TestRedis } from '../../packages/core/src/testing/index.ts';

const L = 50;
const W = 500;
const policy = definePolicy({ name: 'short', limits: [{ per: 'ip', limit: L, window: W }] });

let redis: TestRedis;
let instances: Limiter[];
beforeAll(async () => {
  redis = await startRedis();
  // No answer may come from anywhere but Redis, however slow this machine is.
  instances = [1, 2].map(() => createLimiter({ store: redisStore(redis.url), deadline: '10s' }));
  await Promise.all(instances.map((limiter) => limiter.ready()));
});
afterAll(async () => {
  await Promise.all(instances.map((limiter) => limiter.close()));
  await redis.stop();
});

/** An admitted request: Redis decided it at some moment between these two. */
interface Admitted {
  readonly sentAt: number;
  readonly answeredAt: number;
}

it('never admits more than L·(1 + T/W) in any time T', async () => {
  const mosts: number[] = [];
  // Worst for the limiter: nothing, then the whole limit at the very end of a window, and on into the next two.
  for (let round = 0; round < 4; round++) {
    await redis.client.flushall();
    await untilEndOfWindow();
    const { mostAboveBound, mostInWindow } = examine(await hammer(2.2 * W));
    expect(mostAboveBound).toBeLessThanOrEqual(0);
    expect(mostInWindow).toBeLessThanOrEqual(2 * L);
    mosts.push(mostInWindow);
  }
  // Proof that the edge was met: far more than the limit within the time of one window, as the bound allows.
  expect(Math.max(...mosts)).toBeGreaterThan(1.5 * L);
});

/** All that is admitted while both instances ask as fast as they can. */
async function hammer(ms: number): Promise<Admitted[]> {
  const until = performance.now() + ms;
  const admitted: Admitted[] = [];
  const worker = async (limiter: Limiter): Promise<void> => {
    while (performance.now() < until) {
      const sentAt = performance.now();
      const decision = await limiter.check(requestOf(), policy);
      expect(decision?.source).toBe('store');
      if (decision?.allowed === true) admitted.push({ sentAt, answeredAt: performance.now() });
    }
  };
  await Promise.all([...instances, ...instances, ...instances].map(worker));
  return admitted;
}

/**
 * Looks at every interval from the sending of one request to the answer of another. Only requests that are inside as a
 * whole count, for they were certainly decided inside. Redis counts in whole milliseconds, so that T may be 1 ms more.
 */
function examine(admitted: readonly Admitted[]): { mostAboveBound: number; mostInWindow: number } {
  const byAnswer = admitted.toSorted((a, b) => a.answeredAt - b.answeredAt);
  let mostAboveBound = -Infinity;
  let mostInWindow = 0;
  for (const { sentAt: start } of admitted) {
    let units = 0;
    for (const { sentAt, answeredAt: end } of byAnswer) {
      if (sentAt < start) continue;
      const T = end - start;
      if (T > W) break;
      units++;
      mostInWindow = Math.max(mostInWindow, units);
      mostAboveBound = Math.max(mostAboveBound, units - Math.floor(L * (1 + (T + 1) / W)));
    }
  }
  return { mostAboveBound, mostInWindow };
}

async function untilEndOfWindow(): Promise<void> {
  for (;;) {
    const [seconds = 0, micros = 0] = await redis.client.time();
    if ((seconds * 1000 + Math.floor(micros / 1000)) % W > 0.85 * W) return;
  }
}

function requestOf(): RequestContext {
  return {
    method: 'GET',
    path: '/',
    route: undefined,
    header: () => undefined,
    ip: '192.0.2.1',
    user: undefined,
    raw: {},
  };
}
