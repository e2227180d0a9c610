// Redis is there, and refuses.
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, it } from 'vitest';
import { warmUp } from './stage.ts';
import { expectSurvived, type Trouble } from './trouble.ts';

/** A port on which nobody is. */
const NOBODY = 1;

const TROUBLES: readonly Trouble[] = [
  {
    name: 'CLIENT PAUSE WRITE',
    begin: ({ redis }) => redis.client.call('CLIENT', 'PAUSE', '60000', 'WRITE'),
    end: ({ redis }) => redis.client.call('CLIENT', 'UNPAUSE'),
  },
  {
    name: 'READONLY after a demotion, promoted again',
    begin: ({ redis }) => redis.client.replicaof('127.0.0.1', NOBODY),
    end: ({ redis }) => redis.client.replicaof('NO', 'ONE'),
  },
  {
    name: 'MASTERDOWN',
    async begin({ redis }) {
      await redis.client.config('SET', 'replica-serve-stale-data', 'no');
      await redis.client.replicaof('127.0.0.1', NOBODY);
    },
    end: ({ redis }) => redis.client.replicaof('NO', 'ONE'),
  },
  {
    name: 'NOREPLICAS',
    begin: ({ redis }) => redis.client.config('SET', 'min-replicas-to-write', '1'),
    end: ({ redis }) => redis.client.config('SET', 'min-replicas-to-write', '0'),
  },
  {
    name: 'LOADING for 2 s',
    async before({ redis }) {
      const pairs = Array.from({ length: 2000 }, (_, i) => [`filler:${i}`, 'x'.repeat(100)]).flat();
      await redis.client.mset(pairs);
      await redis.client.config('SET', 'key-load-delay', '1000');
      await redis.client.config('SET', 'loading-process-events-interval-bytes', '1024');
    },
    begin({ redis }) {
      loading = redis.client.call('DEBUG', 'RELOAD');
    },
    end: () => loading,
  },
  {
    name: 'BUSY with a script',
    async begin({ redis }) {
      await redis.client.config('SET', 'busy-reply-threshold', '50');
      const other = redis.client.duplicate().on('error', () => {});
      busy = other
        .eval('while true do end', 0)
        .catch(() => {})
        .finally(() => other.disconnect());
      await sleep(100);
    },
    async end({ redis }) {
      await redis.client.script('KILL');
      await busy;
    },
  },
  {
    name: 'OOM with noeviction',
    begin: ({ redis }) => redis.client.config('SET', 'maxmemory', '1'),
    end: ({ redis }) => redis.client.config('SET', 'maxmemory', '0'),
  },
];

let loading: Promise<unknown>;
let busy: Promise<unknown>;

beforeAll(warmUp);

describe.concurrent('a Redis that refuses', () => {
  it.each(TROUBLES)('$name', (trouble) => expectSurvived(trouble));
});
