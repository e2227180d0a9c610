// What happens to keys and scripts while all is well otherwise: nobody is degraded, and nothing is said.
import { setTimeout as sleep } from 'node:timers/promises';
import { type AlgorithmName, definePolicy, type Limiter, type Policy } from '@tollgate/core';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Ask, slowestOf, talliesOf } from './load.ts';
import { MODES, type Mode, requestOf } from './policies.ts';
import { addRow } from './report.ts';
import {
  countedIn,
  DEADLINE_MS,
  onStage,
  TOLERANCE_MS,
  unhandled,
  type Stage,
  type StageOptions,
  until,
  warmUp,
} from './stage.ts';

const HOUR_MS = 3_600_000;

interface Disturbance extends StageOptions {
  readonly name: string;
  readonly disturb: (stage: Stage) => Promise<void>;
  /** Counters that it sets to nothing, so that what was counted is not known afterwards. */
  readonly forgets?: boolean;
}

async function keyOf({ redis }: Stage): Promise<string> {
  const [key] = (await redis.client.keys('tg1:*:open:*')).toSorted();
  if (key === undefined) throw new Error('nothing was counted');
  return key;
}

const DISTURBANCES: readonly Disturbance[] = [
  {
    name: 'wrong type on one key',
    forgets: true,
    async disturb(stage) {
      const key = await keyOf(stage);
      await stage.redis.client.multi().del(key).lpush(key, 'no counter').exec();
      await sleep(1000);
      // It was replaced by the next request of its caller.
      expect(await stage.redis.client.type(key)).toBe('string');
      expect(await stage.redis.client.pttl(key)).toBeGreaterThan(0);
    },
  },
  {
    name: 'PERSISTed key',
    async disturb(stage) {
      const key = await keyOf(stage);
      await stage.redis.client.persist(key);
      await sleep(1000);
      expect(await stage.redis.client.pttl(key)).toBeGreaterThan(0);
    },
  },
  {
    name: 'SCRIPT FLUSH, each 5 ms',
    async disturb({ redis }) {
      for (const end = performance.now() + 2000; performance.now() < end;) {
        await redis.client.script('FLUSH');
        await sleep(5);
      }
    },
  },
  {
    name: 'FLUSHALL',
    forgets: true,
    async disturb({ redis }) {
      await redis.client.flushall();
      await sleep(500);
    },
  },
];

function endure({ name, disturb, forgets = false, ...options }: Disturbance): Promise<void> {
  return onStage(options, async (stage) => {
    const { load, limiter } = stage;
    await until('under load', () => load.samples.length > 60);
    await disturb(stage);
    await load.stop();
    const ghosts = forgets ? undefined : (await countedIn(limiter)) - load.samples.length;
    if (!forgets) expect(ghosts).toBe(0);
    expect(load.samples.filter(({ quota }) => !quota)).toEqual([]);
    expectUndisturbed(name, stage, ghosts);
  });
}

/** As if nothing had happened: all is decided by the store, in time, and there is nothing to tell. */
function expectUndisturbed(name: string, { load, limiter, warnings }: Stage, ghosts?: number): void {
  const { samples } = load;
  expect(samples.filter(({ source }) => source !== 'store')).toEqual([]);
  expect([warnings, limiter.warnings.size, unhandled]).toEqual([[], 0, []]);
  expect(slowestOf(samples)).toBeLessThanOrEqual(DEADLINE_MS + TOLERANCE_MS);
  addRow({
    'scenario': name,
    'slowest, ms': slowestOf(samples),
    ...talliesOf(samples),
    'events': '',
    'ghosts': ghosts ?? '',
    'recovered after, ms': '',
  });
}

/** Limits that are reached all the time, so that a clock can lock callers out. */
const ALGORITHMS: Readonly<Record<Mode, AlgorithmName>> = {
  local: 'sliding-window',
  open: 'token-bucket',
  closed: 'sliding-log',
};
const WINDOW_MS = 1000;

const CLOCK_POLICIES = Object.fromEntries(
  MODES.map((mode) => [
    mode,
    definePolicy({
      name: mode,
      limits: [{ algorithm: ALGORITHMS[mode], limit: 5, window: WINDOW_MS, per: 'ip' }],
      onStoreFailure: mode,
    }),
  ]),
) as Record<Mode, Policy>;

/** Moves the clock that the store sends (that of Redis itself cannot be moved without root) by an hour, and back. */
function moveClock({ name, direction }: { name: string; direction: 1 | -1 }): Promise<void> {
  let skewMs = 0;
  const waits: number[] = [];
  const ask = (limiter: Limiter): Ask => {
    return async (mode, ip) => {
      const decision = await limiter.check(requestOf(ip), CLOCK_POLICIES[mode]);
      waits.push(decision?.retryAfterMs ?? Infinity);
      return { source: decision?.source, allowed: decision?.allowed === true, quota: decision?.quota !== undefined };
    };
  };
  return onStage({ store: { now: () => Date.now() + skewMs }, ask }, async (stage) => {
    const { load } = stage;
    await sleep(2 * WINDOW_MS);
    for (const skew of [direction * HOUR_MS, 0]) {
      skewMs = skew;
      const movedAt = performance.now();
      await sleep(2 * WINDOW_MS);
      // Nobody is locked out, and the limit is still one.
      for (const mode of MODES) {
        const after = load.between(movedAt).filter((sample) => sample.mode === mode);
        expect([mode, new Set(after.map(({ allowed }) => allowed))]).toEqual([mode, new Set([true, false])]);
      }
    }
    await load.stop();
    // Whatever the clock did, nobody is told to wait for longer than two windows.
    expect(Math.max(...waits)).toBeLessThanOrEqual(2 * WINDOW_MS);
    expectUndisturbed(name, stage);
  });
}

beforeAll(warmUp);

describe.concurrent('a Redis whose keys, scripts or clock change', () => {
  it.each(DISTURBANCES)('$name', endure);
  it.each([
    { name: 'clock an hour back and forth', direction: -1 as const },
    { name: 'clock an hour forth and back', direction: 1 as const },
  ])('$name', moveClock);
});
