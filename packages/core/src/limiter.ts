import type { RequestContext, Resolver } from './context.ts';
import type { Decision, Verdict } from './decision.ts';
import { type Duration, MAX_WINDOW_MS, toMs } from './duration.ts';
import { createAddressParser, UNKNOWN_ADDRESS } from './identity/client-ip.ts';
import { createHasher } from './identity/hash.ts';
import { type Caller, createCallerResolver, type Identified } from './identity/identity.ts';
import { andThen, isPromise, mapInOrder, type MaybePromise } from './maybe.ts';
import { checkFunction, checkOptions, invalid } from './options.ts';
import { type PolicyCharges, toCharges } from './policy/charge.ts';
import { choosePolicies, declaredPolicies, isPreflight, type PolicySpec } from './policy/choose.ts';
import type { Policy } from './policy/policy.ts';
import { createRegistry } from './policy/registry.ts';
import { createDecider } from './resilience/decider.ts';
import { waitForTurn } from './resilience/shaping.ts';
import { Deadline } from './stores/deadline.ts';
import { memoryStore } from './stores/memory-store.ts';
import type { Adjustment, Store } from './stores/store.ts';
import { createTelemetry, type Listeners } from './telemetry.ts';

export interface LimiterOptions<R = unknown> extends Listeners {
  /** Where to count. Default: in memory. */
  readonly store?: Store;
  /** How long a decision may wait for the store, 1 ms to 10 s. Default: the store's own, 100 ms for Redis. */
  readonly deadline?: Duration;
  /** Who is calling, where the framework does not know. Undefined or an error: the next link of the chain. */
  readonly identify?: Resolver<R, Identified>;
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
   * once per request, however often it is asked for. Where a leaky bucket shapes, the answer comes when it is the
   * request's turn; resolvers of the application are waited for. Fails only if a chooser of policies does.
   */
  check<R>(ctx: RequestContext<R>, spec: PolicySpec<R>): MaybePromise<Decision | undefined>;
  /** What `check` would answer, charging nothing; limits that would pass report their quota as it is. */
  peek<R>(ctx: RequestContext<R>, spec: PolicySpec<R>): MaybePromise<Verdict | undefined>;
  /** Forgets what was counted for this caller, its blocks included. Backstops and `global` limits stay. @throws StoreError */
  reset<R>(ctx: RequestContext<R>, spec: PolicySpec<R>): MaybePromise<boolean>;
  /** Bars this caller for a time, 1 ms to 31 days, whatever its quota. @throws StoreError, ConfigError */
  block<R>(ctx: RequestContext<R>, spec: PolicySpec<R>, duration: Duration): MaybePromise<boolean>;
  /** Ends a block of this caller; tells whether there was one. @throws StoreError */
  unblock<R>(ctx: RequestContext<R>, spec: PolicySpec<R>): MaybePromise<boolean>;
  /** Resolves when the store can decide; rejects when it cannot be reached, or not within 5 s. */
  ready(): Promise<void>;
  /** Ends the connection that the store made. Idempotent. */
  close(): Promise<void>;
}

/** How long `ready` waits: a server may accept the connection and stay silent. */
const READY_MS = 5000;

/** @throws ConfigError when an option is unknown or out of range */
export function createLimiter<R = unknown>(options: LimiterOptions<R> = {}): Limiter {
  checkOptions('limiter', options, ['store', 'deadline', 'identify', 'pepper', 'onDecision', 'onWarning']);
  const { store = memoryStore(), deadline = store.deadlineMs, pepper } = options;
  const identify = options.identify as Resolver<never, Identified> | undefined;
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
  const telemetry = createTelemetry(options);
  const { warn } = telemetry;
  store.listen?.(telemetry.report);
  const decider = createDecider(store, deadlineMs, telemetry.report);
  const charged = new WeakMap<object, Set<Policy<never>>>();

  return {
    store,
    register: (spec) => declaredPolicies(spec).forEach((policy) => registry.add(policy)),
    check(ctx, spec) {
      if (isPreflight(ctx)) return undefined;
      return andThen(choosePolicies(spec, ctx), (chosen) =>
        andThen(due(chosen, ctx), (policies) => (policies.length === 0 ? undefined : decideRequest(ctx, policies))),
      );
    },
    peek: (ctx, spec) =>
      onCharges(ctx, spec, (asked, { identity }) => (isEmpty(asked) ? undefined : decider.peek(asked, identity))),
    reset: (ctx, spec) => adjustEach(ctx, spec, 'reset', 0),
    block: (ctx, spec, duration) => adjustEach(ctx, spec, 'block', toMs('block', duration, 1, MAX_WINDOW_MS)),
    unblock: (ctx, spec) => adjustEach(ctx, spec, 'unblock', 0),
    ready: async () => new Deadline(READY_MS).race(Promise.resolve(store.ready?.())),
    close: async () => store.close?.(),
  };

  /** Leaves out what this request was charged already, and what is to be skipped. */
  function due<T>(policies: readonly Policy<T>[], ctx: RequestContext<T>): MaybePromise<readonly Policy<T>[]> {
    const before = chargesOf(ctx.raw);
    const fresh: Policy<T>[] = [];
    for (const policy of policies) {
      if (before.has(policy)) continue;
      meet(policy);
      before.add(policy);
      fresh.push(policy);
    }
    if (!fresh.some(({ skip }) => skip)) return fresh;
    return andThen(
      mapInOrder(fresh, ({ skip }) => (skip === undefined ? false : ask(skip, ctx, 'skip'))),
      (skipped) => fresh.filter((_, i) => skipped[i] !== true),
    );
  }

  /** A policy that only a request brings up is not worth failing that request: its limits count as they are. */
  function meet(policy: Policy<never>): void {
    try {
      registry.add(policy);
    } catch (error) {
      warn('policy-name-conflict', (error as Error).message);
    }
  }

  function chargesOf(request: unknown): Set<Policy<never>> {
    if (typeof request !== 'object' || request === null) return new Set();
    let policies = charged.get(request);
    if (policies === undefined) charged.set(request, (policies = new Set()));
    return policies;
  }

  /** identity → charges → store → decision → turn */
  function decideRequest<T>(
    ctx: RequestContext<T>,
    policies: readonly Policy<T>[],
  ): MaybePromise<Decision | undefined> {
    return resolve(ctx, policies, (asked, { identity }) => {
      if (isEmpty(asked)) return undefined;
      return andThen(decider.take(asked, identity), (decision) => {
        telemetry.decided(decision, ctx);
        if (decision.delayMs === 0) return decision;
        return waitForTurn(decision.delayMs, ctx.onDisconnect?.bind(ctx)).then((came) =>
          came ? decision : { ...decision, allowed: false, cancelled: true },
        );
      });
    });
  }

  function onCharges<T, A>(
    ctx: RequestContext<T>,
    spec: PolicySpec<T>,
    work: (asked: readonly PolicyCharges[], caller: Caller) => MaybePromise<A>,
  ): MaybePromise<A> {
    return andThen(choosePolicies(spec, ctx), (policies) => {
      for (const policy of policies) meet(policy);
      return resolve(ctx, policies, work);
    });
  }

  function resolve<T, A>(
    ctx: RequestContext<T>,
    policies: readonly Policy<T>[],
    work: (asked: readonly PolicyCharges[], caller: Caller) => MaybePromise<A>,
  ): MaybePromise<A> {
    const identified = identify === undefined ? undefined : ask(identify as Resolver<T, Identified>, ctx, 'identify');
    return andThen(identified, (user) => {
      const caller = toCaller(ctx, user);
      if (caller.address === UNKNOWN_ADDRESS) {
        warn('client-address-unknown', 'A client address is missing or no IP address; such clients share one counter.');
      }
      return andThen(
        mapInOrder(policies, (policy) => toCharges(policy, ctx, caller, hash, warn)),
        (asked) => work(asked, caller),
      );
    });
  }

  /** Changes the counters that are this caller's own: what others share is not the caller's to reset or to block. */
  function adjustEach<T>(
    ctx: RequestContext<T>,
    spec: PolicySpec<T>,
    kind: Adjustment['kind'],
    units: number,
  ): MaybePromise<boolean> {
    return onCharges(ctx, spec, (asked) => {
      const own = asked
        .flatMap(({ charges }) => charges)
        .filter(({ isBackstop, rule }) => !isBackstop && rule.disclosed);
      if (own.length === 0) return false;
      const adjustments = own.map((charge): Adjustment => ({ kind, charge, units, at: 0 }));
      return andThen(decider.adjust(adjustments), (changed) => changed.includes(true));
    });
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

function isEmpty(asked: readonly PolicyCharges[]): boolean {
  return asked.every(({ charges }) => charges.length === 0);
}
