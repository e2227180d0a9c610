import type { RequestContext, Resolver } from '../context.ts';
import { andThen, isPromise, mapInOrder, type MaybePromise } from '../maybe.ts';
import type { WarningListener } from '../warnings.ts';
import { choosePolicies, declaredPolicies, type PolicySpec } from './choose.ts';
import type { Policy } from './policy.ts';
import { createRegistry } from './registry.ts';

/** Asks a resolver of the application; one that fails answers nothing, and says so. */
export type Ask = <R, T>(resolver: Resolver<R, T>, ctx: RequestContext<R>, name: string) => MaybePromise<T | undefined>;

export function createAsk(warn: WarningListener): Ask {
  return function ask(resolver, ctx, name) {
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
  };
}

/** Which policies a request is to be charged by. */
export interface Selection {
  /** @throws ConfigError when a policy of that name with other limits is known already */
  register<R>(spec: PolicySpec<R>): void;
  /** The policies of a request. */
  all<R>(spec: PolicySpec<R>, ctx: RequestContext<R>): MaybePromise<readonly Policy<R>[]>;
  /** Of these, what the request was not charged before, and what is not to be skipped. */
  due<R>(spec: PolicySpec<R>, ctx: RequestContext<R>): MaybePromise<readonly Policy<R>[]>;
}

export function createSelection(ask: Ask, warn: WarningListener): Selection {
  const registry = createRegistry();
  const charged = new WeakMap<object, Set<Policy<never>>>();

  return {
    register: (spec) => declaredPolicies(spec).forEach((policy) => registry.add(policy)),
    all,
    due: (spec, ctx) =>
      andThen(all(spec, ctx), (policies) => {
        const before = chargesOf(ctx.raw);
        const fresh: (typeof policies)[number][] = [];
        for (const policy of policies) {
          if (before.has(policy)) continue;
          before.add(policy);
          fresh.push(policy);
        }
        if (!fresh.some(({ skip }) => skip)) return fresh;
        return andThen(
          mapInOrder(fresh, ({ skip }) => (skip === undefined ? false : ask(skip, ctx, 'skip'))),
          (skipped) => fresh.filter((_, i) => skipped[i] !== true),
        );
      }),
  };

  function all<R>(spec: PolicySpec<R>, ctx: RequestContext<R>): MaybePromise<readonly Policy<R>[]> {
    return andThen(choosePolicies(spec, ctx), (policies) => {
      for (const policy of policies) meet(policy);
      return policies;
    });
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
}
