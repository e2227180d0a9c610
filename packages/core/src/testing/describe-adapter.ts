import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type MemoryStore, memoryStore } from '../stores/memory-store.ts';
import { redisStore } from '../stores/redis-store.ts';
import type { Store } from '../stores/store.ts';
import { type AdapterBench, type AdapterTest, startApp } from './adapter-bench.ts';
import { adapterCases } from './adapter-cases.ts';
import type { AdapterUnderTest } from './app-spec.ts';
import { bodyCases } from './body-cases.ts';
import { callerCases } from './caller-cases.ts';
import { createClock } from './clock.ts';
import { connectionCases } from './connection-cases.ts';
import { errorCases } from './error-cases.ts';
import { http2Cases } from './http2-cases.ts';
import { lifecycleCases } from './lifecycle-cases.ts';
import { freshPrefix } from './prefix.ts';
import { watchProcess } from './process-watch.ts';
import { replyCases } from './reply-cases.ts';
import { startRedis, type TestRedis } from './redis-server.ts';
import { routingCases } from './routing-cases.ts';

/** The conformance suite of adapters, over HTTP alone, once with decisions at once (memory) and once with late ones (Redis). */
export function describeAdapter(subject: AdapterUnderTest): void {
  describe.each(['memory', 'redis'] as const)(`adapter ${subject.name} on %s`, (kind) => {
    let redis: TestRedis | undefined;
    const running: (() => Promise<unknown>)[] = [];
    beforeAll(async () => {
      if (kind === 'redis') redis = await startRedis();
    });
    afterAll(() => redis?.stop());
    afterEach(async () => {
      for (const close of running.splice(0)) await close();
    });

    function createBench(): AdapterBench {
      const clock = createClock();
      const prefixes: string[] = [];
      const inMemory: MemoryStore[] = [];
      const createStore = (): Store => {
        if (redis !== undefined) {
          const prefix = freshPrefix();
          prefixes.push(prefix);
          return redisStore(redis.url, { prefix, now: clock });
        }
        const store = memoryStore({ now: clock });
        inMemory.push(store);
        return store;
      };
      return {
        clock,
        composition: subject.composition,
        createStore,
        async countKeys() {
          let count = inMemory.reduce((sum, { size }) => sum + size, 0);
          for (const prefix of prefixes) count += (await redis?.client.keys(`${prefix}*`))?.length ?? 0;
          return count;
        },
        async start({ store, ...options } = {}) {
          const client = await startApp((spec) => subject.create(spec), store ?? createStore(), options);
          running.push(
            async () => client.gate.open(),
            () => client.app.close(),
            () => client.limiter.close(),
          );
          if (store === undefined) await client.limiter.ready();
          return client;
        },
      };
    }

    const testUnless =
      (skipAll?: string): AdapterTest =>
      (name, run) => {
        const reason = skipAll ?? subject.skip?.[name];
        it.skipIf(reason !== undefined)(reason === undefined ? name : `${name} (skipped: ${reason})`, async () => {
          const watch = watchProcess();
          let left: readonly unknown[] = [];
          try {
            await run(createBench());
          } finally {
            left = await watch.stop();
          }
          expect(left, 'what the requests left behind in the process').toEqual([]);
        });
      };
    const test = testUnless();
    adapterCases(test);
    routingCases(test);
    callerCases(test);
    replyCases(test);
    bodyCases(test);
    errorCases(test);
    connectionCases(test);
    http2Cases(testUnless(subject.skipHttp2));
    lifecycleCases(test);
  });
}
