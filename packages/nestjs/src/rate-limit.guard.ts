import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { limiterOf, type PolicySpec } from '@tollgate/core';
import { callOf } from './call.ts';
import type { HttpRequest } from './context.ts';
import type { RateLimitModuleOptions } from './options.ts';
import { enforce } from './passage.ts';
import { RATE_LIMIT_OPTIONS, RATE_LIMIT_POLICY } from './tokens.ts';

/** Limits the routes that Nest has matched. The module makes it global; it also works with `@UseGuards`. */
@Injectable()
export class RateLimitGuard implements CanActivate {
  readonly #options: RateLimitModuleOptions;
  readonly #reflector: Reflector;

  constructor(@Inject(RATE_LIMIT_OPTIONS) options: RateLimitModuleOptions, @Inject(Reflector) reflector: Reflector) {
    this.#options = options;
    this.#reflector = reflector;
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const spec = this.#policyOf(context);
    if (spec !== false) await enforce(callOf(context), limiterOf(this.#options), spec);
    return true;
  }

  #policyOf(context: ExecutionContext): PolicySpec<HttpRequest> | false {
    const targets = [context.getHandler(), context.getClass()];
    const own = this.#reflector.getAllAndOverride<PolicySpec<HttpRequest> | false | undefined>(
      RATE_LIMIT_POLICY,
      targets,
    );
    return own ?? this.#options.policy ?? false;
  }
}
