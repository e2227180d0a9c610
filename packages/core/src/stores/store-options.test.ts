import { Redis } from 'ioredis';
import { describe } from 'vitest';
import { describeOptions, describeValues } from '../testing/describe-options.ts';
import { all, FUNCTION, integer, NO_OBJECTS, Odd, SECRET, word } from '../testing/option-values.ts';
import { memoryStore } from './memory-store.ts';
import { redisStore } from './redis-store.ts';

/** Never connected: only that it is a client matters here. */
function clientOf(): Redis {
  const client = new Redis({ lazyConnect: true, maxRetriesPerRequest: 0, reconnectOnError: () => false });
  client.disconnect();
  return client;
}

describeOptions({
  at: 'memoryStore',
  base: {},
  make: memoryStore,
  options: { maxKeys: integer(1, 2 ** 24), now: FUNCTION },
});

describeOptions({
  at: 'redisStore',
  base: {},
  make: (options) => redisStore(clientOf(), options),
  options: {
    prefix: {
      good: ['', 'a:b/c.d-_9', 'x'.repeat(64)],
      bad: word(64).bad.filter((one) => one !== '' && one !== 'a:b'),
    },
    now: FUNCTION,
  },
});

describe("redisStore's connection", () => {
  const unusable = (url: string, received: string) => new Odd(url, { received });
  describeValues('redisStore.connection', redisStore, {
    good: [clientOf(), 'redis://127.0.0.1:1', 'rediss://user:p%40ss@127.0.0.1:1/15', 'redis://[::1]:1/'],
    bad: [
      ...NO_OBJECTS.filter((one) => typeof one !== 'string'),
      ...all(undefined, {}, { evalsha: () => {} }, { evalSha: () => {}, eval: () => {}, on: () => {} }),
      ...['', 'x', '127.0.0.1:6379', `:${SECRET}@h`, SECRET].map((url) => unusable(url, '"text without a scheme"')),
      ...['http', 'unix', 'valkey'].map((scheme) => unusable(`${scheme}://:${SECRET}@h`, `"${scheme}://…"`)),
      ...[`:${SECRET}@h:99999`, `u:${SECRET}%zz@h:1`, `h:1:${SECRET}`, `:se/${SECRET}@h`, 'h/zero', 'h/0/1'].map(
        (rest) => unusable(`redis://${rest}`, '"redis://…"'),
      ),
      new Odd({ evalsha() {}, isCluster: true }, { received: '"a Redis Cluster"' }),
    ],
  });
});
