import { Redis } from 'ioredis';
import { invalid } from '../options.ts';
import type { WarningListener } from '../warnings.ts';
import { fromIoredis } from './redis-connection.ts';
import { type IoredisSettings, warnOfSettings } from './redis-diagnostics.ts';

/** The part of an ioredis `Redis` that the store uses. */
export interface IoredisClient {
  readonly status: string;
  readonly isCluster?: boolean;
  readonly options?: IoredisSettings;
  evalsha(sha1: string, keys: number, ...args: (string | number)[]): Promise<unknown>;
  eval(source: string, keys: number, ...args: (string | number)[]): Promise<unknown>;
  info?(section: string): Promise<string>;
  connect(): Promise<unknown>;
  disconnect(): void;
  on(event: string, listener: (error: Error) => void): unknown;
  off(event: string, listener: (error: Error) => void): unknown;
}

/** A connection to Redis, as the store sees it: a command now or an error, never a queue. */
export interface RedisClient {
  /** Undefined when commands can be sent, a promise of that while the first connection is made. @throws StoreError */
  whenReady(): Promise<void> | undefined;
  evalsha(sha1: string, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>;
  eval(source: string, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * Tollgate's own connection: nothing is queued, resent or retried behind the back of a caller that was answered.
 * @param warn told of each new trouble with the connection
 */
export function connectRedis(url: string, warn: WarningListener): RedisClient {
  const client = createClient(url);
  letProcessEnd(client);
  return fromIoredis(client, warn, () => client.disconnect());
}

function createClient(url: string): Redis {
  // Any other path would be sent as the database, which Redis refuses with each new connection.
  if (!/^rediss?:\/\//.test(url) || !URL.canParse(url) || !/^\/?\d*$/.test(new URL(url).pathname)) invalidUrl(url);
  try {
    return new Redis(url, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      connectTimeout: 1000,
      keepAlive: 10_000,
      // Where a host or a network is gone, nobody closes the connection, and the system would send again for a quarter of an hour.
      socketTimeout: 3000,
      // What ioredis would wait, until a loading Redis is asked again, or for a farewell that nobody answers.
      maxLoadingRetryTime: 500,
      disconnectTimeout: 100,
      // Soon at first, then once a second; spread, so that many instances do not come back in step.
      retryStrategy: (attempt) => Math.min(50 * 2 ** attempt, 1000) + Math.floor(Math.random() * 100),
      // A demoted master answers READONLY for ever; a new connection finds the new one.
      // Redis 5 and 6 quote it in an error of the script.
      reconnectOnError: (error) => /(^|-)READONLY /.test(error.message),
    });
  } catch {
    // The client's own error may quote the URL, and with it the password.
    return invalidUrl(url);
  }
}

/** An idle connection, or one that is to be tried again, keeps no process alive. What waits for an answer has its deadline. */
function letProcessEnd(client: Redis): void {
  client.on('connect', () => client.stream.unref());
  client.on('reconnecting', () => {
    // ioredis has no setting for it, and a version that calls its timer otherwise only keeps the process.
    const { reconnectTimeout } = client as unknown as { reconnectTimeout?: { unref?(): void } | null };
    reconnectTimeout?.unref?.();
  });
}

/** Nothing of the URL but its scheme is shown: what looks like a host may be half of a password. */
function invalidUrl(url: string): never {
  const scheme = /^[a-z][a-z\d+.-]*:\/\//i.exec(url)?.[0];
  const rule =
    'a URL of the form redis://user:password@host:port/db (or rediss://), special characters percent-encoded';
  return invalid('redisStore.connection', rule, scheme === undefined ? 'text without a scheme' : `${scheme}…`);
}

/** Takes a client that the application made, as it is. The application closes it. */
export function adoptIoredis(client: IoredisClient, warn: WarningListener): RedisClient {
  // A limiter may be listening by then.
  queueMicrotask(() => warnOfSettings(client.options, warn));
  return fromIoredis(client, warn, () => {});
}
