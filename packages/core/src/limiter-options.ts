import type { Resolver } from './context.ts';
import { type Duration, toMs } from './duration.ts';
import { isProduction, replicaHint } from './environment.ts';
import type { Identified } from './identity/identity.ts';
import { checkFunction, checkOptions, invalid, secretAs } from './options.ts';
import { memoryStore } from './stores/memory-store.ts';
import { checkReplyOptions, type ReplyOptions, type ReplyParts } from './reply/reply-options.ts';
import type { Store } from './stores/store.ts';
import type { Listeners } from './telemetry/telemetry.ts';
import type { WarningListener } from './warnings.ts';

export interface LimiterOptions<R = unknown> extends Listeners {
  /** Where to count. Default: in memory. */
  readonly store?: Store;
  /** How long a decision may wait for the store, 1 ms to 10 s. Default: the store's own, 100 ms for Redis. */
  readonly deadline?: Duration;
  /** Who is calling, where the framework does not know. Undefined or an error: the next link of the chain. */
  readonly identify?: Resolver<R, Identified>;
  /** The caller's tier, for limits that are given with `byTier`. */
  readonly tier?: Resolver<R, string | undefined>;
  /** Keys the hashes of API keys, user agents and names; at least 16 characters. Default: plain hashes. */
  readonly pepper?: string;
  /** How decisions are told to clients: header fields, the body of a denial. */
  readonly reply?: ReplyOptions<R>;
}

const OPTIONS = ['store', 'deadline', 'identify', 'tier', 'pepper', 'reply', 'onDecision', 'onDegraded', 'onWarning'];
const MIN_PEPPER = 16;
const MAX_DEADLINE_MS = 10_000;

/** What a limiter is made of, checked. */
export interface LimiterParts {
  readonly store: Store;
  readonly deadlineMs: number;
  readonly identify: Resolver<never, Identified> | undefined;
  readonly tier: Resolver<never, string | undefined> | undefined;
  readonly pepper: string | undefined;
  readonly reply: ReplyParts;
}

/** @throws ConfigError when an option is unknown or out of range */
export function checkLimiterOptions<R>(options: LimiterOptions<R>): LimiterParts {
  checkOptions('limiter', options, OPTIONS);
  const { store = memoryStore(), deadline, identify, tier, pepper } = options;
  if (typeof store?.take !== 'function')
    invalid('limiter.store', 'a store such as memoryStore() or redisStore(url)', store);
  for (const name of ['identify', 'tier', 'onDecision', 'onDegraded', 'onWarning'] as const)
    checkFunction(`limiter.${name}`, options[name]);
  if (pepper !== undefined && (typeof pepper !== 'string' || pepper.length < MIN_PEPPER)) {
    invalid('limiter.pepper', `a string of at least ${MIN_PEPPER} characters`, secretAs(pepper));
  }
  return {
    store,
    deadlineMs:
      deadline === undefined
        ? toMs('limiter.store.deadlineMs', store.deadlineMs, 1, MAX_DEADLINE_MS)
        : toMs('limiter.deadline', deadline, 1, MAX_DEADLINE_MS),
    identify,
    tier,
    pepper,
    reply: checkReplyOptions(options.reply === undefined ? {} : options.reply, pepper),
  };
}

const CREATED = Symbol.for('tollgate.limiters');
/** More limiters than any process has use for. */
const TOO_MANY = 100;

/** What can be seen to be wrong when a limiter is made. */
export function warnOfMaking(store: Store | undefined, warn: WarningListener): void {
  // A memory store that was asked for is taken as the application's word.
  if (store === undefined && isProduction()) {
    warn(
      'memory-store-in-production',
      'Without a store, each process counts for itself in memory: use redisStore(url), or memoryStore() for a single one.',
    );
  }
  const hint = store === undefined || store.name === 'memory' ? replicaHint() : undefined;
  if (hint !== undefined) {
    warn(
      'memory-store-with-replicas',
      `Each instance counts for itself in memory, and ${hint} hints at several: use redisStore(url).`,
    );
  }
  const host = globalThis as { [CREATED]?: number };
  host[CREATED] = (host[CREATED] ?? 0) + 1;
  if (host[CREATED] === TOO_MANY) {
    warn(
      'limiter-per-request',
      `${TOO_MANY} limiters were made in this process: one that is made inside a request limits nothing.`,
    );
  }
}
