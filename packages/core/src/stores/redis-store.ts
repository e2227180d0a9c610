import { StoreError } from '../errors.ts';
import { checkFunction, checkOptions, invalid } from '../options.ts';
import { createWarner, type WarningListener } from '../warnings.ts';
import type { Deadline } from './deadline.ts';
import { adoptIoredis, connectRedis, type IoredisClient, type RedisClient } from './redis-client.ts';
import { fromAdjustReply, fromTakeReply, type RedisCall, toAdjustCall, toTakeCall } from './redis-call.ts';
import { toStoreError } from './redis-errors.ts';
import { ADJUST, type Script, TAKE } from './scripts.generated.ts';
import type { Store } from './store.ts';

export interface RedisStoreOptions {
  /** Put before every key, followed by a colon; up to 64 letters, digits and `_ - . : /`. Default: none. */
  readonly prefix?: string;
  /** Sends this time in whole ms instead of Redis reading its own clock. For tests: mixing clocks corrupts counters. */
  readonly now?: () => number;
}

/**
 * Counts in Redis (5 or newer, or Valkey), exactly, for any number of instances.
 * @param connection a `redis://` or `rediss://` URL, for a connection of the store's own with settings that cannot hang,
 * or an ioredis `Redis` (also for Sentinel), used as it is; a Redis Cluster is not supported yet
 * @throws ConfigError when there is no connection or an option is wrong
 */
export function redisStore(connection: string | IoredisClient | undefined, options: RedisStoreOptions = {}): Store {
  checkOptions('redisStore', options, ['prefix', 'now']);
  const { now } = options;
  checkFunction('redisStore.now', now);
  const prefix = checkPrefix(options.prefix);
  const { warn, listen } = createWarner();
  const client = toClient(connection, warn);

  return {
    name: 'redis',
    deadlineMs: 100,
    listen,
    take: (requests, deadline) =>
      run(
        TAKE,
        deadline,
        (at) => toTakeCall(requests, 'take', prefix, at),
        (reply) => fromTakeReply(reply, requests),
      ),
    peek: (request, deadline) =>
      run(
        TAKE,
        deadline,
        (at) => toTakeCall([request], 'peek', prefix, at),
        (reply) => fromTakeReply(reply, [request])[0]?.answers ?? [],
      ),
    adjust: (adjustments, deadline) =>
      run(
        ADJUST,
        deadline,
        (at) => toAdjustCall(adjustments, prefix, at),
        (reply) => fromAdjustReply(reply, adjustments),
      ),
    async ready() {
      await client.whenReady();
    },
    close: () => client.close(),
  };

  async function run<T>(
    { sha1, source }: Script,
    deadline: Deadline,
    toCall: (now: number | undefined) => RedisCall,
    fromReply: (reply: unknown) => T,
  ): Promise<T> {
    const starting = client.whenReady();
    if (starting !== undefined) await starting;
    if (deadline.expired) throw new StoreError('deadline', 'Redis connected too late for this request.');
    const { keys, args } = toCall(now?.());
    let reply: unknown;
    try {
      reply = await client.evalsha(sha1, keys, args);
    } catch (error) {
      // Only this error says that nothing ran. After any other, or too late, sending again could count twice.
      if (!isNoScript(error) || deadline.expired) throw toStoreError(error);
      reply = await client.eval(source, keys, args).catch(rethrow);
    }
    return fromReply(reply);
  }
}

function rethrow(error: unknown): never {
  throw toStoreError(error);
}

function toClient(connection: string | IoredisClient | undefined, warn: WarningListener): RedisClient {
  if (typeof connection === 'string') return connectRedis(connection, warn);
  if (typeof connection === 'object' && connection !== null && typeof connection.evalsha === 'function') {
    // The limits of one request may lie in several slots, which no script can decide in one step.
    if (connection.isCluster === true)
      invalid('redisStore.connection', 'a client of a single Redis or Sentinel', 'a Redis Cluster');
    if (typeof connection.eval === 'function' && typeof connection.on === 'function')
      return adoptIoredis(connection, warn);
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
