import type { WarningListener } from '../warnings.ts';

/** The settings of an ioredis client that decide what becomes of commands in an outage. */
export interface IoredisSettings {
  readonly autoResendUnfulfilledCommands?: boolean | undefined;
  readonly maxRetriesPerRequest?: number | null | undefined;
  readonly reconnectOnError?: unknown;
  readonly retryStrategy?: unknown;
}

/** Looks at the settings of a client that the application made: it is used as it is, and this is what it will do. */
export function warnOfSettings(settings: IoredisSettings | undefined, warn: WarningListener): void {
  if (settings === undefined) return;
  const { autoResendUnfulfilledCommands, maxRetriesPerRequest, reconnectOnError, retryStrategy } = settings;
  const signs = [
    autoResendUnfulfilledCommands !== false &&
      maxRetriesPerRequest !== 0 &&
      'sends commands again that were not answered when a connection broke, which can count twice (set maxRetriesPerRequest: 0)',
    autoResendUnfulfilledCommands === false &&
      maxRetriesPerRequest !== 0 &&
      'never answers commands that were under way when a connection broke (set maxRetriesPerRequest: 0)',
    typeof reconnectOnError !== 'function' &&
      "stays with a master that became read-only (set reconnectOnError: (error) => error.message.startsWith('READONLY'))",
    retryStrategy !== undefined && typeof retryStrategy !== 'function' && 'never connects again (set retryStrategy)',
  ].filter((sign) => sign !== false);
  if (signs.length > 0) warn('client-settings', `The ioredis client that redisStore was given ${signs.join('; it ')}.`);
}

/**
 * Asks once whether Redis may evict counters, which would give whoever exceeded a limit all of it anew. By INFO, because
 * CONFIG is forbidden on many managed ones; where both are, nobody is told.
 */
export async function warnOfEviction(info: () => Promise<string | undefined>, warn: WarningListener): Promise<void> {
  const memory = (await info().catch(() => undefined)) ?? '';
  const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1];
  const limit = /^maxmemory:(\d+)/m.exec(memory)?.[1];
  if (policy === undefined || policy === 'noeviction' || limit === '0') return;
  warn(
    'store-evicts',
    `Redis may evict counters (maxmemory-policy ${policy}): a flood of keys then gives limits anew. Use one of its own with noeviction.`,
  );
}
