import { type CallHandler, type ExecutionContext, Inject, Injectable, type NestInterceptor } from '@nestjs/common';
import { isPromise, limiterOf } from '@tollgate/core';
import { findCall } from './call.ts';
import type { RateLimitModuleOptions } from './options.ts';
import { enforceAgain } from './passage.ts';
import { RATE_LIMIT_OPTIONS } from './tokens.ts';

/** Looks again at what the guard let pass: all guards have run, and one of them may have named a user. */
@Injectable()
export class RateLimitInterceptor implements NestInterceptor {
  readonly #options: RateLimitModuleOptions;

  constructor(@Inject(RATE_LIMIT_OPTIONS) options: RateLimitModuleOptions) {
    this.#options = options;
  }

  intercept(context: ExecutionContext, next: CallHandler): ReturnType<NestInterceptor['intercept']> {
    const call = findCall(context);
    const done = call && enforceAgain(call, limiterOf(this.#options));
    return isPromise(done) ? Promise.resolve(done).then(() => next.handle()) : next.handle();
  }
}
