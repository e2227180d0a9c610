import { isProduction } from './environment.ts';
import { createLimiter, type Limiter } from './limiter.ts';
import { memoryStore } from './stores/memory-store.ts';
import { invalid } from './options.ts';
import { warnOnce } from './warnings.ts';

/** One per process, for all adapters and for both builds (ESM and CommonJS) of the package. */
const SHARED = Symbol.for('tollgate.limiter');

/** What every adapter takes. */
export interface AdapterOptions {
  /** Default: one in-memory limiter, shared by all adapters of the process. */
  readonly limiter?: Limiter;
}

/**
 * The limiter that an adapter was given, or else the one that the whole process shares.
 * @param where how the adapter's options are called in errors
 * @throws ConfigError when it was given something else
 */
export function limiterOf({ limiter }: AdapterOptions, where = 'rateLimit'): Limiter {
  if (limiter === undefined) return sharedLimiter();
  if (typeof limiter?.check !== 'function' || typeof limiter.register !== 'function')
    invalid(`${where}.limiter`, 'a limiter made by createLimiter()', limiter);
  return limiter;
}

function sharedLimiter(): Limiter {
  const host = globalThis as { [SHARED]?: Limiter };
  if (isProduction()) {
    warnOnce(
      'memory-store-in-production',
      'Without a limiter, each process counts for itself in memory: pass one with redisStore(url).',
    );
  }
  return (host[SHARED] ??= createLimiter({ store: memoryStore() }));
}
