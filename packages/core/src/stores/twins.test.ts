import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AlgorithmName } from '../algorithms/algorithm.ts';
import { ALGORITHM_NAMES } from '../algorithms/algorithms.ts';
import { MAX_LOG_LIMIT } from '../algorithms/sliding-log.ts';
import type { Charge } from '../policy/charge.ts';
import { createClock, freshPrefix, startRedis, type TestRedis, toCharge } from '../testing/index.ts';
import { Model } from '../testing/model.ts';
import { Deadline } from './deadline.ts';
import { memoryStore } from './memory-store.ts';
import { redisStore } from './redis-store.ts';
import type { Adjustment } from './store.ts';

/** One limit of a request: whose counter, by which numbers, how much. */
interface Ask {
  readonly who: string;
  readonly algorithm: AlgorithmName;
  readonly windowMs: number;
  readonly limit: number;
  readonly burst: number;
  readonly maxDelayMs: number | undefined;
  readonly blockMs: number;
  readonly cost: number;
}

/** One line of a script. A failure prints its script: it can be pasted into `replay`. `of` names an earlier request. */
type Line =
  | { readonly wait: number }
  | { readonly jump: number }
  | { readonly take: readonly Ask[] }
  | { readonly peek: readonly Ask[] }
  | { readonly refund: { readonly of: number; readonly units: number } }
  | { readonly debit: { readonly of: number; readonly units: number } }
  | { readonly reset: number }
  | { readonly block: { readonly of: number; readonly ms: number } }
  | { readonly unblock: number };

const small = fc.integer({ min: 0, max: 12 });
const units = fc.oneof(
  { weight: 4, arbitrary: small },
  fc.integer({ min: 0, max: 20_000 }),
  fc.constantFrom(999_999_999, 2_000_000_000),
);
const durations = fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 100_000 }));

function asks(algorithm: fc.Arbitrary<AlgorithmName>): fc.Arbitrary<Ask> {
  return fc
    .record({
      who: fc.constantFrom('a', 'b'),
      algorithm,
      // Often the same few counters, under rules that differ.
      windowMs: fc.oneof(
        { weight: 3, arbitrary: fc.constantFrom(1000, 60_000) },
        { weight: 2, arbitrary: fc.constantFrom(1, 7, 2_678_400_000) },
      ),
      limit: fc.oneof(
        { weight: 2, arbitrary: fc.constantFrom(0, 1, 2) },
        { weight: 4, arbitrary: small },
        fc.integer({ min: 0, max: 10_000 }),
        fc.constantFrom(999_999_999, 3_000_000_000),
      ),
      burst: fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 1, max: 12 }) }, fc.integer({ min: 1, max: 100_000 })),
      maxDelayMs: fc.oneof(fc.constant(undefined), fc.integer({ min: 0, max: 60_000 })),
      blockMs: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, durations),
      cost: units,
    })
    .filter(({ limit, windowMs, burst }) => limit * Math.max(windowMs, 60_000) < 2 ** 53 && burst * windowMs < 2 ** 53)
    .filter((ask) => ask.algorithm !== 'sliding-log' || ask.limit <= MAX_LOG_LIMIT);
}

function scripts(algorithm: fc.Arbitrary<AlgorithmName>): fc.Arbitrary<readonly Line[]> {
  const request = fc.array(asks(algorithm), { minLength: 1, maxLength: 4 });
  const of = fc.nat(7);
  const line: fc.Arbitrary<Line> = fc.oneof(
    { weight: 10, arbitrary: fc.record({ take: request }) },
    { weight: 2, arbitrary: fc.record({ peek: request }) },
    { weight: 6, arbitrary: fc.record({ wait: fc.oneof(fc.nat(5), fc.nat(2000), fc.nat(200_000)) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        jump: fc.oneof(fc.integer({ min: -50, max: 50 }), fc.integer({ min: -4_000_000, max: 4_000_000 })),
      }),
    },
    { weight: 3, arbitrary: fc.record({ refund: fc.record({ of, units }) }) },
    { weight: 2, arbitrary: fc.record({ debit: fc.record({ of, units }) }) },
    { weight: 1, arbitrary: fc.record({ reset: of }) },
    { weight: 1, arbitrary: fc.record({ block: fc.record({ of, ms: durations }) }) },
    { weight: 1, arbitrary: fc.record({ unblock: of }) },
  );
  return fc.array(line, { minLength: 1, maxLength: 60, size: 'max' });
}

function chargeOf(ask: Ask): Charge {
  const { who, algorithm, windowMs: window, limit, cost, maxDelayMs, blockMs } = ask;
  const isBucket = algorithm === 'token-bucket' || algorithm === 'leaky-bucket';
  const burst = isBucket ? { burst: ask.burst } : {};
  const shape = algorithm === 'leaky-bucket' && maxDelayMs !== undefined ? { shape: { maxDelay: maxDelayMs } } : {};
  const block = blockMs > 0 ? { block: blockMs } : {};
  return toCharge({ algorithm, window, limit, ...burst, ...shape, ...block }, who, cost);
}

/**
 * The same scripts each time, so that a change is what makes a run fail; `TOLLGATE_SEED=random` looks for new ones, and a
 * number replays those of a failure.
 */
const SEED = process.env['TOLLGATE_SEED'] ?? '20261130';
const SEEDED = SEED === 'random' ? {} : { seed: Number(SEED) };

/** How much longer than its life a key is kept; as in common.lua. */
const GRACE_MS = 1000;

const keyOf = ({ rule, partition }: Charge): string => `${rule.path}:${partition}`;
const toModel = (charge: Charge) => ({ key: keyOf(charge), rule: charge.rule, cost: charge.cost });

describe('memory, Redis and the model', () => {
  let redis: TestRedis;
  /** One for all stores: each script makes a store of its own. */
  let client: Redis;
  beforeAll(async () => {
    redis = await startRedis();
    client = new Redis(redis.url, { maxRetriesPerRequest: 0, reconnectOnError: () => false });
  });
  afterAll(async () => {
    client.disconnect();
    await redis.stop();
  });

  /** Runs a script on all three; returns how many of its lines were compared. */
  async function replay(script: readonly Line[]): Promise<number> {
    const clock = createClock();
    const deadline = new Deadline(5000);
    const memory = memoryStore({ now: clock });
    const store = redisStore(client, { prefix: freshPrefix(), now: clock });
    const model = new Model();
    const taken: { charge: Charge; at: number }[] = [];
    const change = async (
      kind: Adjustment['kind'],
      of: number,
      size: number,
      expected: (charge: Charge, at: number) => boolean,
    ) => {
      const target = taken.at(-1 - of);
      if (target === undefined) return;
      const adjustments = [{ kind, ...target, units: size }];
      const [fromMemory, fromRedis] = [memory.adjust(adjustments), await store.adjust(adjustments, deadline)];
      expect({ fromMemory, fromRedis }).toEqual({
        fromMemory: fromRedis,
        fromRedis: [expected(target.charge, target.at)],
      });
    };
    let compared = 0;
    for (const line of script) {
      compared++;
      if ('wait' in line || 'jump' in line) {
        clock.advance('wait' in line ? line.wait : line.jump);
        compared--;
      } else if ('take' in line) {
        const charges = line.take.map(chargeOf);
        const fromMemory = memory.take([charges]);
        const expected = model.take(charges.map(toModel), clock());
        expect(await store.take([charges], deadline)).toEqual(fromMemory);
        expect(fromMemory).toEqual([expected]);
        charges.forEach((charge, i) => taken.push({ charge, at: expected.at[i] as number }));
      } else if ('peek' in line) {
        const charges = line.peek.map(chargeOf);
        const fromMemory = memory.peek(charges);
        expect(await store.peek(charges, deadline)).toEqual(fromMemory);
        expect(fromMemory).toEqual(model.peek(charges.map(toModel), clock()));
      } else if ('refund' in line) {
        const { of, units: size } = line.refund;
        await change('refund', of, size, (charge, at) => model.refund(toModel(charge), size, at, clock()));
      } else if ('debit' in line) {
        const { of, units: size } = line.debit;
        await change('debit', of, size, (charge) => model.debit(toModel(charge), size, clock()));
      } else if ('reset' in line) {
        await change('reset', line.reset, 0, (charge) => model.reset(keyOf(charge)));
      } else if ('block' in line) {
        const { of, ms } = line.block;
        await change('block', of, ms, (charge) => model.block(keyOf(charge), ms, clock()));
      } else {
        await change('unblock', line.unblock, 0, (charge) => model.unblock(keyOf(charge), clock()));
      }
    }
    return compared;
  }

  async function agree(algorithm: fc.Arbitrary<AlgorithmName>, numRuns: number): Promise<number> {
    let compared = 0;
    const property = fc.asyncProperty(scripts(algorithm), async (script) => {
      const begun = Date.now();
      try {
        compared += await replay(script);
      } catch (error) {
        // Redis expires by its own clock, which goes on while the test's stands still: a pause of the machine that is
        // longer than a key's grace takes away what should still be there. Such a script says nothing.
        if (Date.now() - begun < GRACE_MS) throw error;
      }
    });
    await fc.assert(property, { numRuns, ...SEEDED });
    return compared;
  }

  it.each(ALGORITHM_NAMES)(
    'agree to the bit on any script of %s',
    async (name) => {
      expect(await agree(fc.constant(name), 550)).toBeGreaterThan(10_000);
    },
    120_000,
  );

  it('agree to the bit on any script of mixed algorithms', async () => {
    expect(await agree(fc.constantFrom(...ALGORITHM_NAMES), 550)).toBeGreaterThan(10_000);
  }, 120_000);

  it('agree on batches of requests over the same keys', async () => {
    const clock = createClock();
    const batches = fc.array(fc.array(asks(fc.constantFrom(...ALGORITHM_NAMES)), { minLength: 1, maxLength: 3 }), {
      minLength: 1,
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(batches, async (batch) => {
        const requests = batch.map((request) => request.map(chargeOf));
        const store = redisStore(client, { prefix: freshPrefix(), now: clock });
        const memory = memoryStore({ now: clock });
        for (let round = 0; round < 3; round++)
          expect(await store.take(requests, new Deadline(5000))).toEqual(memory.take(requests));
      }),
      { numRuns: 200, ...SEEDED },
    );
  });
});
