import { StoreError } from '../errors.ts';
import { checkFunction, checkOptions, invalid } from '../options.ts';
import type { Answer } from '../algorithms/algorithm.ts';
import type { Deadline } from './deadline.ts';
import { connectRedis, fromIoredis, type IoredisClient, type RedisClient } from './redis-client.ts';
import { TAKE } from './scripts.generated.ts';
import type { Store, TakeRequest } from './store.ts';
import { fromTakeReply, toTakeCall } from './take-call.ts';

export interface RedisStoreOptions {
  /** Put before every key, followed by a colon; up to 64 letters, digits and `_ - . : /`. Default: none. */
  readonly prefix?: string;
  /** Sends this time in whole ms instead of Redis reading its own clock. For tests: mixing clocks corrupts counters. */
  readonly now?: () => number;
}

/**
 * Counts in Redis (5 or newer, or Valkey), exactly, for any number of instances.
 * @param connection a `redis://` or `rediss://` URL, for a connection of the store's own with settings that cannot hang,
 * or an ioredis `Redis` or `Cluster`, used as it is
 * @throws ConfigError when there is no connection or an option is wrong
 */
export function redisStore(connection: string | IoredisClient | undefined, options: RedisStoreOptions = {}): Store {
  checkOptions('redisStore', options, ['prefix', 'now']);
  const { now } = options;
  checkFunction('redisStore.now', now);
  const prefix = checkPrefix(options.prefix);
  const client = toClient(connection);

  return {
    name: 'redis',
    deadlineMs: 100,
    take(requests, deadline) {
      const starting = client.whenReady();
      return starting === undefined ? decide(requests, deadline) : starting.then(() => decide(requests, deadline));
    },
    async ready() {
      await client.whenReady();
    },
    close: () => client.close(),
  };

  async function decide(requests: readonly TakeRequest[], deadline: Deadline): Promise<Answer[][]> {
    if (deadline.expired) throw new StoreError('deadline', 'Redis connected too late for this request.');
    const { keys, args } = toTakeCall(requests, prefix, now?.());
    let reply: unknown;
    try {
      reply = await client.evalsha(TAKE.sha1, keys, args);
    } catch (error) {
      // Only this error says that nothing ran. After any other, or too late, sending again could count twice.
      if (!isNoScript(error) || deadline.expired) throw error;
      reply = await client.eval(TAKE.source, keys, args);
    }
    return fromTakeReply(reply, requests);
  }
}

function toClient(connection: string | IoredisClient | undefined): RedisClient {
  if (typeof connection === 'string') return connectRedis(connection);
  if (typeof connection === 'object' && connection !== null && typeof connection.evalsha === 'function') {
    return fromIoredis(connection);
  }
  return invalid('redisStore.connection', 'a redis:// URL or an ioredis client', connection);
}

function checkPrefix(prefix: string | undefined): string {
  if (prefix === undefined || prefix === '') return '';
  // A brace would move every key into one slot of a cluster.
  if (typeof prefix !== 'string' || !/^[\w\-.:/]{1,64}$/.test(prefix)) {
    invalid('redisStore.prefix', 'up to 64 letters, digits, or _ - . : /', prefix);
  }
  return prefix.endsWith(':') ? prefix : `${prefix}:`;
}

function isNoScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}
