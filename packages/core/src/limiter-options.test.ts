import { describe } from 'vitest';
import { createLimiter } from './limiter.ts';
import type { LimiterOptions } from './limiter-options.ts';
import { read } from './policy/presets.ts';
import type { ReplyOptions } from './reply/reply-options.ts';
import { memoryStore } from './stores/memory-store.ts';
import { describeOptions, describeValues } from './testing/describe-options.ts';
import { policyValues } from './testing/spec-values.ts';
import {
  all,
  boxed,
  duration,
  FLAG,
  FUNCTION,
  integer,
  NO_OBJECTS,
  Odd,
  oneOf,
  SECRET,
  text,
} from './testing/option-values.ts';
import { requestOf } from './testing/request.ts';

const PEPPER = 'x'.repeat(16);
// oxlint-disable-next-line unicorn/no-new-array -- what is meant is a hole
const HOLES: unknown[] = new Array(2);

describeOptions<LimiterOptions>({
  at: 'limiter',
  base: {},
  make: createLimiter,
  options: {
    store: {
      good: [memoryStore()],
      bad: [
        ...all(
          null,
          'memory',
          '',
          5,
          true,
          {},
          [],
          { take: 5 },
          memoryStore,
          new Map(),
          Promise.resolve(memoryStore()),
        ),
        // A password that was meant for redisStore().
        `redis://user:${SECRET}@127.0.0.1`,
        new URL(`redis://user:${SECRET}@127.0.0.1`),
        new Odd({ take() {} }, { option: 'limiter.store.deadlineMs', received: 'undefined' }),
        new Odd({ take() {}, deadlineMs: 0 }, { option: 'limiter.store.deadlineMs', received: '0' }),
      ],
    },
    deadline: duration(1, 10_000),
    identify: FUNCTION,
    tier: FUNCTION,
    pepper: {
      good: [PEPPER, '日'.repeat(16), 'x'.repeat(1000), '\0'.repeat(16)],
      bad: [
        ...['', SECRET, 'x'.repeat(15)].map((pepper) => new Odd(pepper, { received: '"a shorter one"' })),
        // A number may be the secret as well.
        ...[12_345_678_901_234, Number.NaN].map((pepper) => new Odd(pepper, { received: '"a value of type number"' })),
        new Odd(12_345_678_901_234_567n, { received: '"a value of type bigint"' }),
        ...all(true, () => PEPPER, null, {}, [], [PEPPER], boxed(PEPPER), new TextEncoder().encode(PEPPER)),
      ],
    },
    reply: { good: [{}], bad: NO_OBJECTS },
    onDecision: FUNCTION,
    onDegraded: FUNCTION,
    onWarning: FUNCTION,
  },
});

describeOptions<ReplyOptions>({
  at: 'limiter.reply',
  base: {},
  make: (reply) => createLimiter({ reply, pepper: PEPPER }),
  options: {
    headers: {
      good: ['ietf', 'draft-7', [], ['ietf', 'draft-6', 'legacy'], ['legacy', 'legacy'], Object.freeze(['draft-7'])],
      bad: [
        ...all('', 'IETF', 'draft-8', 'ietf,legacy', '__proto__', 5, true, null, {}, boxed('ietf'), new Set(['ietf'])),
        new Odd(['ietf', 'x'], { received: '"x"' }),
        new Odd(['ietf', null], { received: 'null' }),
        new Odd([['ietf']], { received: 'an array' }),
        new Odd(HOLES, { received: 'undefined' }),
        new Odd(['ietf', 'draft-7'], { received: '"both"' }),
      ],
    },
    body: oneOf('json', 'problem'),
    partitionKey: FLAG,
    jitter: duration(0, 600_000),
    exposeHeaders: FLAG,
    message: text(1000),
    status: integer(400, 599),
    handler: FUNCTION,
  },
});

describe('a partition key', () => {
  for (const limiter of [{}, { pepper: PEPPER, headers: 'legacy' }, { pepper: PEPPER, headers: [] }] as const) {
    const { headers = 'ietf', ...options } = { headers: undefined, ...limiter };
    const make = (partitionKey: boolean) => createLimiter({ ...options, reply: { headers, partitionKey } });
    describeValues('limiter.reply.partitionKey', make, { good: [false], bad: [true] });
  }
});

describe('what its methods take', () => {
  const limiter = createLimiter();
  const ctx = requestOf({ user: 'u' });
  const units = duration(1, 31 * 86_400_000);
  describeValues('block', (time) => limiter.block(ctx, read(), time), { ...units, bad: [undefined, ...units.bad] });

  const specs = policyValues();
  describeValues('policy', (spec) => limiter.register(spec), { ...specs, bad: [undefined, ...specs.bad] });
});
