import type { RequestContext, Resolver } from '../context.ts';
import { isPromise, type MaybePromise } from '../maybe.ts';
import type { WarningListener } from '../warnings.ts';

/** Asks a resolver of the application; one that fails answers nothing, and says so. */
export type Ask = <R, T>(resolver: Resolver<R, T>, ctx: RequestContext<R>, name: string) => MaybePromise<T | undefined>;

export function createAsk(warn: WarningListener): Ask {
  return function ask(resolver, ctx, name) {
    const failed = (error: unknown): undefined => {
      warnOfFailure(warn, name, error);
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

/** Tells what kind of error it was; what it says goes only to who listens, because it may quote what a client sent. */
export function warnOfFailure(warn: WarningListener, name: string, error: unknown): void {
  warn('resolver-failed', `${name} failed with ${error instanceof Error ? error.name : `a ${typeof error}`}.`, error);
}
