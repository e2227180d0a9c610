import type { RequestContext, Resolver } from '../context.ts';
import type { Caller, Identified } from '../identity/identity.ts';
import { andThen, mapInOrder, type MaybePromise } from '../maybe.ts';
import { type ChargeMeans, type PolicyCharges, toCharges } from './charge.ts';
import type { Policy } from './policy.ts';

/**
 * Resolves who is calling, and what that is to be charged.
 * @param ip the client's address as the framework said it when the request came in
 */
export type Resolve = <R, A>(
  ctx: RequestContext<R>,
  policies: readonly Policy<R>[],
  ip: unknown,
  work: (asked: readonly PolicyCharges[], caller: Caller) => MaybePromise<A>,
) => MaybePromise<A>;

/** What callers are resolved with: the limiter's own means. */
export interface ResolveMeans extends ChargeMeans {
  readonly identify: Resolver<never, Identified> | undefined;
  readonly toCaller: (ctx: RequestContext, identified: Identified, ip: unknown) => Caller;
}

export function createResolve({ identify, toCaller, ...means }: ResolveMeans): Resolve {
  const { ask, warn } = means;
  return function resolve<R, A>(
    ctx: RequestContext<R>,
    policies: readonly Policy<R>[],
    ip: unknown,
    work: (asked: readonly PolicyCharges[], caller: Caller) => MaybePromise<A>,
  ): MaybePromise<A> {
    const identified = identify === undefined ? undefined : ask(identify as Resolver<R, Identified>, ctx, 'identify');
    return andThen(identified, (user) => {
      const caller = toCaller(ctx, user, ip);
      if (user !== undefined && user !== null && caller.claimed === undefined) {
        warn('identity-unusable', 'identify answered something that is no id: the next link of the chain counts.');
      }
      return andThen(
        mapInOrder(policies, (policy) => toCharges(policy, ctx, caller, means)),
        (asked) => work(asked, caller),
      );
    });
  };
}
