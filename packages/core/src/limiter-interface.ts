import type { RequestContext } from './context.ts';
import type { Decision, Verdict } from './decision.ts';
import type { Duration } from './duration.ts';
import type { MaybePromise } from './maybe.ts';
import type { PolicySpec } from './policy/choose.ts';
import type { ExistingHeader } from './reply/existing.ts';
import type { Reply } from './reply/reply.ts';
import type { Store } from './stores/store.ts';
import type { WarningCode } from './warnings.ts';

export interface Limiter {
  readonly store: Store;
  /** How often each warning came up, whether it was said or not. */
  readonly warnings: ReadonlyMap<WarningCode, number>;
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
  /**
   * As `check`, for a request whose body was not read yet. Where a policy asks functions of the application, which may
   * want it, nothing is charged: the answer is `later` (to be followed by `check`), or a denial by a limit that needs
   * neither the body nor the user. A request that is answered before `check` is charged by these limits in the end.
   * `later` is also the answer where a `skip` or a chooser leaves the request out: it may think otherwise then.
   */
  checkEarly<R>(ctx: RequestContext<R>, spec: PolicySpec<R>): MaybePromise<Decision | 'later' | undefined>;
  /**
   * Decides again what was decided before all was known. Where authentication has named a user, or another one, since,
   * or a `skip` or a chooser says something else now, what the request was charged is given back, and it is charged anew.
   * Undefined: the decision stands; `withdrawn`: nothing counts for the request any more.
   * @param decision what was answered before
   */
  recheck<R>(
    ctx: RequestContext<R>,
    spec: PolicySpec<R>,
    decision: Decision | undefined,
  ): MaybePromise<Decision | 'withdrawn' | undefined>;
  /**
   * What the client is to be told of a decision. Never fails.
   * @param existing reads a header that the response has already
   */
  reply<R>(decision: Verdict, ctx: RequestContext<R>, existing: ExistingHeader): MaybePromise<Reply>;
  /** What `check` would answer, charging nothing; limits that would pass report their quota as it is. */
  peek<R>(ctx: RequestContext<R>, spec: PolicySpec<R>): MaybePromise<Verdict | undefined>;
  /**
   * Forgets what was counted for this caller, its blocks included: all limits with something of the caller in their
   * partition. Backstops, and limits by `route` or `global` alone, stay. @throws StoreError
   */
  reset<R>(ctx: RequestContext<R>, spec: PolicySpec<R>): MaybePromise<boolean>;
  /** Bars this caller for a time, 1 ms to 31 days, whatever its quota, on the same limits as `reset`. @throws StoreError, ConfigError */
  block<R>(ctx: RequestContext<R>, spec: PolicySpec<R>, duration: Duration): MaybePromise<boolean>;
  /** Ends a block of this caller; tells whether there was one. @throws StoreError */
  unblock<R>(ctx: RequestContext<R>, spec: PolicySpec<R>): MaybePromise<boolean>;
  /** Says what an operator should know, the first time that this code comes up, as the limiter's own warnings are said. */
  warn(code: WarningCode, message: string): void;
  /** Resolves when the store can decide; rejects when it cannot be reached, or not within 5 s. */
  ready(): Promise<void>;
  /** Ends the connection that the store made. Idempotent. */
  close(): Promise<void>;
}
