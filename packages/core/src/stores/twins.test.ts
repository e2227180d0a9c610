import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClock, freshPrefix, startRedis, type TestRedis, toCharge } from '../testing/index.ts';
import { Deadline } from './deadline.ts';
import { memoryStore } from './memory-store.ts';
import { redisStore } from './redis-store.ts';

/** One line of a script. A failure prints its script, which can be pasted into `replay`. */
type Line =
  | { readonly wait: number }
  | { readonly jump: number }
  | {
      readonly take: readonly {
        readonly limit: number;
        readonly windowMs: number;
        readonly cost: number;
        readonly who: string;
      }[];
    };

const charges = fc
  .record({
    limit: fc.oneof(
      fc.integer({ min: 0, max: 12 }),
      fc.integer({ min: 0, max: 1_000_000 }),
      fc.constantFrom(999_999_999, 1_000_000_000, 3_000_000_000),
    ),
    windowMs: fc.constantFrom(1, 7, 500, 1000, 60_000, 3_600_000, 2_678_400_000),
    cost: fc.oneof(
      fc.integer({ min: 0, max: 5 }),
      fc.integer({ min: 0, max: 1_000_000 }),
      fc.constantFrom(999_999_999, 2_000_000_000),
    ),
    who: fc.constantFrom('a', 'b', '__proto__'),
  })
  .filter(({ limit, windowMs }) => limit * windowMs < 2 ** 53);

const lines = fc.oneof(
  { weight: 6, arbitrary: fc.record({ take: fc.array(charges, { minLength: 1, maxLength: 4 }) }) },
  { weight: 3, arbitrary: fc.record({ wait: fc.oneof(fc.nat(20), fc.nat(2000), fc.nat(200_000)) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      jump: fc.oneof(fc.integer({ min: -100, max: 100 }), fc.integer({ min: -4_000_000, max: 4_000_000 })),
    }),
  },
);

describe('memory and Redis', () => {
  let redis: TestRedis;
  beforeAll(async () => void (redis = await startRedis()));
  afterAll(() => redis.stop());

  it('agree to the bit on any script of takes, waits and clock jumps', async () => {
    const clock = createClock();
    let steps = 0;
    const replay = async (script: readonly Line[]): Promise<void> => {
      const memory = memoryStore({ now: clock });
      const store = redisStore(redis.client, { prefix: freshPrefix(), now: clock });
      for (const line of script) {
        if ('wait' in line) clock.advance(line.wait);
        else if ('jump' in line) clock.advance(line.jump);
        else {
          const request = line.take.map(({ who, cost, limit, windowMs }) =>
            toCharge({ limit, window: windowMs }, who, cost),
          );
          expect(await store.take([request], new Deadline(5000))).toEqual(memory.take([request]));
          steps++;
        }
      }
    };
    await fc.assert(fc.asyncProperty(fc.array(lines, { minLength: 1, maxLength: 80, size: 'max' }), replay), {
      numRuns: 400,
    });
    expect(steps).toBeGreaterThan(5000);
  }, 120_000);

  it('agree on batches of requests over the same keys', async () => {
    const clock = createClock();
    const batches = fc.array(fc.array(charges, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(batches, async (batch) => {
        const requests = batch.map((request) =>
          request.map(({ who, cost, limit, windowMs }) => toCharge({ limit, window: windowMs }, who, cost)),
        );
        const store = redisStore(redis.client, { prefix: freshPrefix(), now: clock });
        const memory = memoryStore({ now: clock });
        for (let round = 0; round < 3; round++) {
          expect(await store.take(requests, new Deadline(5000))).toEqual(memory.take(requests));
        }
      }),
      { numRuns: 200 },
    );
  });
});
