import { type DynamicModule, Inject, Module, type OnModuleInit } from '@nestjs/common';
import { APP_GUARD, HttpAdapterHost } from '@nestjs/core';
import { checkOptions, limiterOf } from '@tollgate/core';
import type { RateLimitModuleOptions } from './options.ts';
import { RateLimitGuard } from './rate-limit.guard.ts';
import { RATE_LIMIT_OPTIONS } from './tokens.ts';
import { limitUnmatched } from './unmatched.ts';

/** Limits the whole application: import it once, in the root module. */
@Module({})
export class RateLimitModule implements OnModuleInit {
  readonly #options: RateLimitModuleOptions;
  readonly #host: HttpAdapterHost;

  constructor(
    @Inject(RATE_LIMIT_OPTIONS) options: RateLimitModuleOptions,
    @Inject(HttpAdapterHost) host: HttpAdapterHost,
  ) {
    this.#options = options;
    this.#host = host;
  }

  /**
   * @throws ConfigError when the policy or an option is wrong
   * @example imports: [RateLimitModule.forRoot({ limiter, policy: read() })]
   */
  static forRoot(options: RateLimitModuleOptions = {}): DynamicModule {
    checkOptions('RateLimitModule.forRoot', options, ['limiter', 'policy']);
    const limiter = limiterOf(options);
    if (options.policy !== undefined) limiter.register(options.policy);
    return {
      module: RateLimitModule,
      global: true,
      providers: [
        { provide: RATE_LIMIT_OPTIONS, useValue: { ...options, limiter } },
        { provide: APP_GUARD, useClass: RateLimitGuard },
      ],
      exports: [RATE_LIMIT_OPTIONS],
    };
  }

  onModuleInit(): void {
    const { policy } = this.#options;
    // An application without an HTTP server (a microservice) has no adapter.
    if (policy !== undefined && this.#host.httpAdapter !== undefined)
      limitUnmatched(this.#host, limiterOf(this.#options), policy);
  }
}
