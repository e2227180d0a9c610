import type { RequestContext } from '../context.ts';
import type { Decision } from '../decision.ts';
import { andThen, type MaybePromise } from '../maybe.ts';
import { isEmpty } from '../policy/charge.ts';
import type { PolicySpec } from '../policy/choose.ts';
import type { Policy } from '../policy/policy.ts';
import type { Resolve } from '../policy/resolve.ts';
import type { Selection } from '../policy/selection.ts';
import type { Decider } from './decider.ts';
import { toSettlement } from './settlement.ts';

/** What is done about a request before its body is parsed and its user is known. */
export interface Early {
  /** Charges nothing yet: looks whether a limit that needs neither denies the request already. */
  look<R>(
    ctx: RequestContext<R>,
    spec: PolicySpec<R>,
    policies: readonly Policy<R>[],
    ip: unknown,
  ): MaybePromise<Decision | 'later'>;
  /**
   * Gives back what a request was charged because it was answered before it was decided: it goes on all the same, as
   * frameworks do with a request whose client has gone.
   */
  giveBack(ctx: RequestContext): MaybePromise<unknown>;
}

/** The limiter's own means. */
export interface EarlyMeans {
  readonly selection: Selection;
  readonly resolve: Resolve;
  readonly decider: Decider;
  readonly decided: (decision: Decision, ctx: RequestContext) => void;
  readonly due: <R>(ctx: RequestContext<R>, spec: PolicySpec<R>) => MaybePromise<readonly Policy<R>[]>;
  readonly take: <R>(
    ctx: RequestContext<R>,
    policies: readonly Policy<R>[],
    ip: unknown,
  ) => MaybePromise<Decision | undefined>;
}

export function createEarly({ selection, resolve, decider, decided, due, take }: EarlyMeans): Early {
  const missed = new WeakMap<object, Promise<Decision | undefined>>();

  return {
    look(ctx, spec, policies, ip) {
      let isOver = false;
      // Answered without a decision: authentication refused it, or its body did not parse. It must not have been for nothing.
      ctx.onFinish?.(() => {
        isOver = true;
        charge(ctx, spec, ip);
      });
      return resolve(ctx, policies.map(earlyOf), ip, (asked, { identity }) => {
        if (isEmpty(asked)) return 'later';
        return andThen(decider.peek(asked, identity), (verdict) => {
          if (verdict.allowed) return 'later';
          selection.claim(policies, ctx);
          const { decision } = toSettlement(verdict, undefined);
          if (!isOver) decided(decision, ctx);
          return decision;
        });
      });
    },
    giveBack(ctx) {
      const charged = missed.get(ctx.raw as object);
      if (charged === undefined) return undefined;
      missed.delete(ctx.raw as object);
      return charged.then((decision) => decision?.refund());
    },
  };

  function charge<R>(ctx: RequestContext<R>, spec: PolicySpec<R>, ip: unknown): void {
    const charged = Promise.resolve(due(ctx, spec)).then((policies) =>
      policies.length === 0 ? undefined : take(ctx, policies.map(earlyOf), ip),
    );
    missed.set(
      ctx.raw as object,
      // A chooser that fails has failed before.
      charged.catch(() => undefined),
    );
  }
}

function earlyOf<R>(policy: Policy<R>): Policy<R> {
  return policy.early ?? policy;
}
