import { StoreError } from '../errors.ts';
import type { WarningListener } from '../warnings.ts';
import { warnOfEviction } from './redis-diagnostics.ts';
import { toStoreError } from './redis-errors.ts';
import type { IoredisClient, RedisClient } from './redis-client.ts';

/** Sees an ioredis client as the store does. */
export function fromIoredis(client: IoredisClient, warn: WarningListener, end: () => void): RedisClient {
  const trouble = watchTrouble(client, warn);
  // Only the first connection is waited for. Once it was lost, waiting would make every request of an outage slow.
  let settled = client.status === 'ready';
  let connecting: Promise<void> | undefined;
  let isChecked = false;

  const connect = (): Promise<void> => {
    const first = new Promise<void>((resolve, reject) => {
      const onReady = (): void => finish(resolve);
      const onEnd = (): void => finish(() => reject(notConnected(client, trouble.error)));
      const finish = (settle: () => void): void => {
        settled = true;
        client.off('ready', onReady);
        client.off('close', onEnd);
        client.off('end', onEnd);
        settle();
      };
      client.on('ready', onReady);
      client.on('close', onEnd);
      client.on('end', onEnd);
    });
    first.catch(() => {});
    if (client.status === 'wait') client.connect().catch(() => {});
    return first;
  };
  const check = (): void => {
    if (isChecked) return;
    isChecked = true;
    void warnOfEviction(async () => client.info?.('memory'), warn);
  };

  // A client that connects lazily is left to it until it is needed: the application may do it itself.
  if (!settled && client.status !== 'wait') connecting = connect();
  if (settled) check();
  client.on('ready', check);

  return {
    whenReady() {
      if (trouble.database !== undefined) throw trouble.database;
      if (client.status === 'ready') return undefined;
      if (settled || client.status === 'end') throw notConnected(client, trouble.error);
      return (connecting ??= connect());
    },
    evalsha: (sha1, keys, args) => client.evalsha(sha1, keys.length, ...keys, ...args),
    eval: (source, keys, args) => client.eval(source, keys.length, ...keys, ...args),
    async close() {
      end();
    },
  };
}

/** What is wrong with a connection. */
interface Trouble {
  /** While there is none. */
  error: Error | undefined;
  /** The database of the URL could not be selected, and ioredis goes on in the first one, among somebody else's keys. */
  database: StoreError | undefined;
}

/** How long the same trouble is not told again: a connection that comes and goes has one. */
const SAY_AGAIN_MS = 60_000;
const MAX_MESSAGES = 20;

function watchTrouble(client: IoredisClient, warn: WarningListener): Trouble {
  const trouble: Trouble = { error: undefined, database: undefined };
  const saidAt = new Map<string, number>();
  client.on('error', (error) => {
    const { message } = toStoreError(error);
    if ((error as { command?: { name?: string } }).command?.name === 'select') {
      trouble.database = new StoreError('misconfigured', message);
    }
    trouble.error = error;
    const now = performance.now();
    const before = saidAt.get(message);
    if (before === undefined ? saidAt.size >= MAX_MESSAGES : now - before < SAY_AGAIN_MS) return;
    saidAt.set(message, now);
    warn('store-connection', message);
  });
  client.on('ready', () => (trouble.error = undefined));
  client.on('close', () => (trouble.database = undefined));
  return trouble;
}

function notConnected(client: IoredisClient, failure: Error | undefined): StoreError {
  const error = failure && toStoreError(failure);
  // A password that is wrong when connecting is as much for an operator to mend as a right that is missing later.
  if (error?.code === 'misconfigured') return error;
  const why = error === undefined ? '' : `: ${error.message}`;
  return new StoreError('unavailable', `Redis is not connected (client status: ${client.status})${why}`);
}
