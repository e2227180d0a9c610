import { createLimiter, type Limiter, type Warning, type WarningCode } from '@tollgate/core';
import { type IoredisClient, redisStore, type RedisStoreOptions } from '@tollgate/core/redis';
import { startRedis, type TestRedis } from '@tollgate/core/testing';
import { type Ask, askLimiter, type Load, startLoad } from './load.ts';
import { type Network, startNetwork } from './network.ts';
import { IPS, MODES, POLICIES, requestOf } from './policies.ts';
import { serve } from './web.ts';

/** A Redis, and a limiter on it that is asked all the time. */
export interface Stage {
  readonly redis: TestRedis;
  /** Only where it was asked for: it runs in this process, and answers take longer over it. */
  readonly network: Network | undefined;
  readonly limiter: Limiter;
  readonly load: Load;
  readonly warnings: readonly Warning[];
  close(): Promise<void>;
}

/** The store's own. */
export const DEADLINE_MS = 100;
/** How much later an answer may come. */
export const TOLERANCE_MS = 50;

export interface StageOptions {
  /** Default: the URL, for a connection of the store's own. */
  readonly connect?: (url: string) => string | (IoredisClient & { disconnect(): void });
  readonly store?: RedisStoreOptions;
  /** Default: the store's own. */
  readonly deadlineMs?: number;
  /** Puts a network between the store and Redis. */
  readonly overNetwork?: boolean;
  /** Asks over HTTP. */
  readonly http?: boolean;
  /** Lets the limiter print its warnings. At most one such test may run at a time. */
  readonly prints?: boolean;
  /** Before there is a limiter. Where there is trouble already, nobody waits for the store to be ready. */
  readonly before?: (world: Pick<Stage, 'redis' | 'network'>) => unknown;
  readonly startsInTrouble?: boolean;
  readonly ask?: (limiter: Limiter) => Ask;
}

/** What nobody handled, of all tests of a file. */
export const unhandled: unknown[] = [];
process.on('unhandledRejection', (error) => unhandled.push(error));

let opening: Promise<unknown> = Promise.resolve();

/** One after the other, however many tests run at once: to start a server takes the time that a decision should. */
export function openStage(options: StageOptions = {}): Promise<Stage> {
  const opened = opening.then(() => open(options));
  opening = opened.catch(() => {});
  return opened;
}

/** The first decisions of a process are slow: code is loaded and compiled. Nothing is measured meanwhile. */
export async function warmUp(): Promise<void> {
  const stage = await openStage({ http: true, deadlineMs: 5000 });
  await until('warm', () => stage.load.samples.length > 100);
  await stage.close();
}

async function open(options: StageOptions): Promise<Stage> {
  const redis = await startRedis();
  const network = options.overNetwork === true ? await startNetwork(redis.port) : undefined;
  await options.before?.({ redis, network });
  const url = `redis://127.0.0.1:${(network ?? redis).port}`;
  const connection = options.connect?.(url) ?? url;
  const warnings: Warning[] = [];
  const limiter = createLimiter({
    store: redisStore(connection, options.store),
    ...(options.deadlineMs !== undefined && { deadline: options.deadlineMs }),
    ...(options.prints !== true && { onWarning: (warning) => warnings.push(warning) }),
  });
  if (options.startsInTrouble !== true) await limiter.ready();
  const site = options.http === true ? await serve(limiter) : undefined;
  const load = startLoad(site?.ask ?? (options.ask ?? askLimiter)(limiter));

  return {
    redis,
    network,
    limiter,
    load,
    warnings,
    async close() {
      await load.stop();
      await site?.stop();
      await limiter.close();
      if (typeof connection !== 'string') connection.disconnect();
      await network?.stop();
      redis.resume();
      await redis.stop();
    },
  };
}

/** How many requests of the load Redis has counted. */
export async function countedIn(limiter: Limiter): Promise<number> {
  let counted = 0;
  for (const ip of IPS) {
    for (const mode of MODES) {
      const verdict = await limiter.peek(requestOf(ip), POLICIES[mode]);
      for (const { limit, remaining } of verdict?.outcomes ?? []) counted += limit - remaining;
    }
  }
  return counted;
}

export async function until(what: string, isSo: () => boolean, timeoutMs = 20_000): Promise<void> {
  const end = performance.now() + timeoutMs;
  while (!isSo()) {
    if (performance.now() > end) throw new Error(`After ${timeoutMs} ms still not: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Changes of state, in their order; what is said of connections and settings comes besides. */
export function statesOf(codes: readonly WarningCode[]): WarningCode[] {
  return codes.filter((code) => code.startsWith('store-') && code !== 'store-connection');
}

const ATTEMPTS = 3;

/**
 * Runs a test on a stage. One that failed while the machine held this process up for half of the deadline says nothing
 * about the limiter, and is repeated.
 */
export async function onStage(options: StageOptions, test: (stage: Stage) => Promise<void>): Promise<void> {
  const stalledMs = (options.deadlineMs ?? DEADLINE_MS) / 2;
  for (let attempt = 1; ; attempt++) {
    const stage = await openStage(options);
    try {
      return await test(stage);
    } catch (error) {
      if (attempt === ATTEMPTS || stage.load.longestStallMs() < stalledMs) throw error;
    } finally {
      await stage.close();
    }
  }
}
