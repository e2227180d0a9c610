import type { RequestContext } from './context.ts';
import type { Decision } from './decision.ts';
import { MAX_WINDOW_MS, toMs } from './duration.ts';
import { isProduction } from './environment.ts';
import { createAddressParser } from './identity/client-ip.ts';
import { createDiagnostics } from './identity/diagnostics.ts';
import { createHasher } from './identity/hash.ts';
import { createCallerResolver, isNamed, readIp } from './identity/identity.ts';
import type { Limiter } from './limiter-interface.ts';
import { checkLimiterOptions, type LimiterOptions, warnOfMaking } from './limiter-options.ts';
import { andThen, type MaybePromise } from './maybe.ts';
import { isEmpty } from './policy/charge.ts';
import { isPreflight, type PolicySpec } from './policy/choose.ts';
import type { Policy } from './policy/policy.ts';
import { createResolve } from './policy/resolve.ts';
import { createAsk } from './policy/ask.ts';
import { createSelection } from './policy/selection.ts';
import { createReplier } from './reply/reply.ts';
import { settleAfterwards } from './resilience/afterwards.ts';
import { createDecider } from './resilience/decider.ts';
import { createEarly } from './resilience/early.ts';
import { waitForTurn } from './resilience/shaping.ts';
import { Deadline } from './stores/deadline.ts';
import type { Adjustment } from './stores/store.ts';
import { createTelemetry } from './telemetry/telemetry.ts';

export type { Limiter };

/** How long `ready` waits: a server may accept the connection and stay silent. */
const READY_MS = 5000;

/** @throws ConfigError when an option is unknown or out of range */
export function createLimiter<R = unknown>(options: LimiterOptions<R> = {}): Limiter {
  const { store, deadlineMs, identify, pepper, tier, reply } = checkLimiterOptions(options);
  const hash = createHasher(pepper);
  const { warn, report, decided, warnings, observer } = createTelemetry(options, store.name, hash);
  store.listen?.(report);
  warnOfMaking(options.store, warn);
  const ask = createAsk(warn);
  const selection = createSelection(ask, warn, tier !== undefined);
  const toCaller = createCallerResolver(hash, createAddressParser());
  const resolve = createResolve({ identify, toCaller, hash, ask, warn, tier });
  const examine = createDiagnostics(warn, isProduction());
  const decider = createDecider(store, deadlineMs, observer, report, warn);
  const early = createEarly({ selection, resolve, decider, decided, due, take });

  return {
    store,
    warnings,
    register: (spec) => selection.register(spec),
    check,
    checkEarly(ctx, spec) {
      const ip = readIp(ctx);
      return andThen(due(ctx, spec), (policies) => {
        if (policies.length === 0) return selection.varies(spec) ? 'later' : undefined;
        return policies.some(({ asksRequest }) => asksRequest)
          ? early.look(ctx, spec, policies, ip)
          : decide(ctx, policies, ip);
      });
    },
    recheck<T>(ctx: RequestContext<T>, spec: PolicySpec<T>, decision: Decision | undefined) {
      const varies = selection.varies(spec);
      if (decision === undefined) return varies || isNamed(ctx) ? check(ctx, spec) : undefined;
      const isOther = decision.policies.some(dependsOnUser) && isAnotherUser(ctx, decision.identity);
      if (!varies && !isOther) return undefined;
      return andThen(selection.chosen(spec, ctx, decision.policies), (policies) => {
        if (!isOther && isSame(policies, decision.policies)) return undefined;
        // Not waited for: a store does what it is told in the order in which it was.
        void decision.refund();
        selection.release(decision.policies, ctx);
        return andThen(decide(ctx, policies, readIp(ctx)), (again) => again ?? 'withdrawn');
      });
    },
    reply: createReplier(reply, hash, warn),
    peek: (ctx, spec) =>
      andThen(selection.all(spec, ctx), (policies) =>
        resolve(ctx, policies, readIp(ctx), (asked, { identity }) =>
          isEmpty(asked) ? undefined : decider.peek(asked, identity),
        ),
      ),
    reset: (ctx, spec) => adjust(ctx, spec, 'reset', 0),
    block: (ctx, spec, duration) => adjust(ctx, spec, 'block', toMs('block', duration, 1, MAX_WINDOW_MS)),
    unblock: (ctx, spec) => adjust(ctx, spec, 'unblock', 0),
    warn: (code, message) => warn(code, message),
    ready: async () => new Deadline(READY_MS).race(Promise.resolve(store.ready?.())),
    async close() {
      observer.moved('closed');
      decider.close();
      await store.close?.();
    },
  };

  function check<T>(ctx: RequestContext<T>, spec: PolicySpec<T>): MaybePromise<Decision | undefined> {
    const ip = readIp(ctx);
    return andThen(early.giveBack(ctx), () => andThen(due(ctx, spec), (policies) => decide(ctx, policies, ip)));
  }

  function due<T>(ctx: RequestContext<T>, spec: PolicySpec<T>): MaybePromise<readonly Policy<T>[]> {
    return isPreflight(ctx) ? [] : selection.due(spec, ctx);
  }

  /** Whether there is a user by now, or another one: what was read from an unverified token may be replaced by the truth. */
  function isAnotherUser(ctx: RequestContext, { kind, token }: Decision['identity']): boolean {
    if (kind !== 'user') return isNamed(ctx);
    return identify === undefined && toCaller(ctx, undefined).identity.token !== token;
  }

  function decide<T>(
    ctx: RequestContext<T>,
    policies: readonly Policy<T>[],
    ip: unknown,
  ): MaybePromise<Decision | undefined> {
    const claimed = selection.claim(policies, ctx);
    if (claimed.length === 0) return undefined;
    return andThen(take(ctx, claimed, ip), (decision) => {
      // Where nothing was counted (there is no user yet), nothing is settled.
      if (decision === undefined) selection.release(claimed, ctx);
      return decision;
    });
  }

  /** caller → charges → store → decision → turn */
  function take<T>(
    ctx: RequestContext<T>,
    policies: readonly Policy<T>[],
    ip: unknown,
  ): MaybePromise<Decision | undefined> {
    return resolve(ctx, policies, ip, (asked, caller) => {
      if (isEmpty(asked)) return undefined;
      examine(
        ctx,
        caller,
        asked.some(({ policy }) => policy.countsUsers),
      );
      return andThen(decider.take(asked, caller.identity), (settlement) => {
        const { decision } = settlement;
        decided(decision, ctx);
        settleAfterwards(settlement, asked, ctx, warn);
        if (decision.delayMs === 0) return decision;
        return waitForTurn(decision.delayMs, ctx.onDisconnect?.bind(ctx)).then((came) =>
          came ? decision : toCancelled(decision),
        );
      });
    });
  }

  /** Changes the counters that are this caller's own: what others share is not the caller's to reset or to block. */
  function adjust<T>(
    ctx: RequestContext<T>,
    spec: PolicySpec<T>,
    kind: Adjustment['kind'],
    units: number,
  ): MaybePromise<boolean> {
    return andThen(selection.all(spec, ctx), (policies) =>
      resolve(ctx, policies, readIp(ctx), (asked) => {
        const charges = asked.flatMap((one) => one.charges);
        const own = charges.filter(({ isOwn }) => isOwn);
        if (own.length === 0) return false;
        const adjustments = own.map((charge): Adjustment => ({ kind, charge, units, at: 0 }));
        return andThen(decider.adjust(adjustments), (changed) => changed.includes(true));
      }),
    );
  }
}

/** Its turn passes unused: giving it back would let others push in. */
function toCancelled(decision: Decision): Decision {
  return { ...decision, allowed: false, cancelled: true, refund: () => false, settle: () => false };
}

function dependsOnUser({ countsUsers, asksRequest }: Policy<never>): boolean {
  return countsUsers || asksRequest;
}

function isSame(some: readonly Policy<never>[], others: readonly Policy<never>[]): boolean {
  return some.length === others.length && some.every((policy) => others.includes(policy));
}
