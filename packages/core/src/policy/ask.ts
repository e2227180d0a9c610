import type { RequestContext, Resolver } from '../context.ts';
import { isPromise, type MaybePromise } from '../maybe.ts';
import type { WarningListener } from '../warnings.ts';

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
