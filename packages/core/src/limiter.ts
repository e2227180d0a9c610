import type { RequestContext, Resolver } from './context.ts';
import { decide, type Decision, toOutcomes } from './decision.ts';
import { type Duration, toMs } from './duration.ts';
import { createAddressParser, UNKNOWN_ADDRESS } from './identity/client-ip.ts';
import { createHasher } from './identity/hash.ts';
import { type Caller, createCallerResolver, type IdentifiedUser } from './identity/identity.ts';
import { andThen, isPromise, mapInOrder, type MaybePromise } from './maybe.ts';
import { checkFunction, checkOptions, invalid } from './options.ts';
import { type PolicyCharges, toCharges } from './policy/charge.ts';
import { choosePolicies, declaredPolicies, isPreflight, type PolicySpec } from './policy/choose.ts';
import type { Policy } from './policy/policy.ts';
import { createRegistry } from './policy/registry.ts';
import { createFallback } from './resilience/fallback.ts';
import { Deadline } from './stores/deadline.ts';
import { memoryStore } from './stores/memory-store.ts';
import type { Store } from './stores/store.ts';
import { createTelemetry, type Listeners } from './telemetry.ts';

export interface LimiterOptions<R = unknown> extends Listeners {
  /** Where to count. Default: in memory. */
  readonly store?: Store;
  /** How long a decision may wait for the store, 1 ms to 10 s. Default: the store's own, 100 ms for Redis. */
  readonly deadline?: Duration;
  /** Who is calling, where the framework does not know. Undefined or an error: the next link of the chain. */
  readonly identify?: Resolver<R, IdentifiedUser | undefined>;
  /** Keys the hashes of API keys, user agents and names; at least 16 characters. Default: plain hashes. */
  readonly pepper?: string;
}

export interface Limiter {
  readonly store: Store;
  /**
   * Makes policies known. Adapters do this when a middleware is made.
   * @throws ConfigError when a policy of that name with other limits is known already
   */
  register<R>(spec: PolicySpec<R>): void;
  /**
   * Decides a request, at once or within the deadline; undefined when nothing is counted for it. A policy is charged
   * once per request, however often it is asked for. Fails only if a chooser of policies does.
   */
  check<R>(ctx: RequestContext<R>, spec: PolicySpec<R>): MaybePromise<Decision | undefined>;
  /** Resolves when the store can decide, rejects when it cannot be reached. */
  ready(): Promise<void>;
  /** Ends the connection that the store made. Idempotent. */
  close(): Promise<void>;
}

/** @throws ConfigError when an option is unknown or out of range */
export function createLimiter<R = unknown>(options: LimiterOptions<R> = {}): Limiter {
  checkOptions('limiter', options, ['store', 'deadline', 'identify', 'pepper', 'onDecision', 'onWarning']);
  const { store = memoryStore(), deadline = store.deadlineMs, pepper } = options;
  const identify = options.identify as Resolver<never, IdentifiedUser | undefined> | undefined;
  if (typeof store?.take !== 'function')
    invalid('limiter.store', 'a store such as memoryStore() or redisStore(url)', store);
  const deadlineMs = toMs('limiter.deadline', deadline, 1, 10_000);
  for (const name of ['identify', 'onDecision', 'onWarning'] as const) checkFunction(`limiter.${name}`, options[name]);
  if (pepper !== undefined && (typeof pepper !== 'string' || pepper.length < 16)) {
    invalid(
      'limiter.pepper',
      'a string of at least 16 characters',
      typeof pepper === 'string' ? 'a shorter one' : pepper,
    );
  }

  const hash = createHasher(pepper);
  const toCaller = createCallerResolver(hash, createAddressParser());
  const registry = createRegistry();
  const { decided: tellDecided, warn, report } = createTelemetry(options);
  const fallBack = createFallback();
  const charged = new WeakMap<object, Set<Policy<never>>>();
  let degraded = false;

  return {
    store,
    register: (spec) => declaredPolicies(spec).forEach((policy) => registry.add(policy)),
    check(ctx, spec) {
      if (isPreflight(ctx)) return undefined;
      return andThen(choosePolicies(spec, ctx), (chosen) =>
        andThen(due(chosen, ctx), (policies) => (policies.length === 0 ? undefined : decideRequest(ctx, policies))),
      );
    },
    ready: async () => store.ready?.(),
    close: async () => store.close?.(),
  };

  /** Leaves out what this request was charged already, and what is to be skipped. */
  function due<T>(policies: readonly Policy<T>[], ctx: RequestContext<T>): MaybePromise<readonly Policy<T>[]> {
    const before = chargesOf(ctx.raw);
    const fresh: Policy<T>[] = [];
    for (const policy of policies) {
      if (before.has(policy)) continue;
      registry.add(policy);
      before.add(policy);
      fresh.push(policy);
    }
    if (!fresh.some(({ skip }) => skip)) return fresh;
    return andThen(
      mapInOrder(fresh, ({ skip }) => (skip === undefined ? false : ask(skip, ctx, 'skip'))),
      (skipped) => fresh.filter((_, i) => skipped[i] !== true),
    );
  }

  function chargesOf(request: unknown): Set<Policy<never>> {
    if (typeof request !== 'object' || request === null) return new Set();
    let policies = charged.get(request);
    if (policies === undefined) charged.set(request, (policies = new Set()));
    return policies;
  }

  /** identity → charges → store → decision */
  function decideRequest<T>(
    ctx: RequestContext<T>,
    policies: readonly Policy<T>[],
  ): MaybePromise<Decision | undefined> {
    const identified =
      identify === undefined ? undefined : ask(identify as Resolver<T, IdentifiedUser | undefined>, ctx, 'identify');
    return andThen(identified, (user) => {
      const caller = toCaller(ctx, user);
      if (caller.address === UNKNOWN_ADDRESS) {
        warn('client-address-unknown', 'A client address is missing or no IP address; such clients share one counter.');
      }
      return andThen(
        mapInOrder(policies, (policy) => toCharges(policy, ctx, caller, hash, warn)),
        (asked) => andThen(answer(asked, caller), (decision) => tell(decision, ctx)),
      );
    });
  }

  function answer(asked: readonly PolicyCharges[], caller: Caller): MaybePromise<Decision | undefined> {
    const charges = asked.length === 1 ? (asked[0] as PolicyCharges).charges : asked.flatMap((one) => one.charges);
    if (charges.length === 0) return undefined;
    try {
      const patience = new Deadline(deadlineMs);
      const answers = store.take([charges], patience);
      if (!isPromise(answers)) return decided(asked, answers, caller);
      return patience.race(answers).then(
        (late) => decided(asked, late, caller),
        (error: unknown) => degrade(asked, error, caller),
      );
    } catch (error) {
      return degrade(asked, error, caller);
    }
  }

  function decided(
    asked: readonly PolicyCharges[],
    answers: Awaited<ReturnType<Store['take']>>,
    caller: Caller,
  ): Decision {
    if (degraded) {
      degraded = false;
      report('store-recovered', `The ${store.name} store decides again.`);
    }
    const policies = asked.map(({ policy }) => policy);
    return decide(policies, toOutcomes(asked, answers[0] ?? [], 'rule'), caller.identity, 'store');
  }

  function degrade(asked: readonly PolicyCharges[], error: unknown, caller: Caller): Decision {
    if (!degraded) {
      degraded = true;
      const why = error instanceof Error ? error.message : String(error);
      report(
        'store-degraded',
        `The ${store.name} store cannot decide: ${why} Policies answer by their onStoreFailure.`,
      );
    }
    return fallBack(asked, caller.identity);
  }

  function tell(decision: Decision | undefined, ctx: RequestContext): Decision | undefined {
    if (decision !== undefined) tellDecided(decision, ctx);
    return decision;
  }

  /** A resolver of the application that fails answers nothing, and says so once. */
  function ask<T, A>(resolver: Resolver<T, A>, ctx: RequestContext<T>, name: string): MaybePromise<A | undefined> {
    const failed = (error: unknown): undefined => {
      warn('resolver-failed', `${name} failed: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    };
    try {
      const value = resolver(ctx.raw, ctx);
      return isPromise(value) ? Promise.resolve(value).then((late) => late, failed) : value;
    } catch (error) {
      return failed(error);
    }
  }
}
