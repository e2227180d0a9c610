import { type DynamicModule, Inject, Module, type OnModuleInit } from '@nestjs/common';
import { APP_GUARD, DiscoveryModule, DiscoveryService, HttpAdapterHost, Reflector } from '@nestjs/core';
import { checkOptions, limiterOf } from '@tollgate/core';
import { decoratedPolicies } from './decorated-policies.ts';
import type { RateLimitModuleOptions } from './options.ts';
import { RateLimitGuard } from './rate-limit.guard.ts';
import { RATE_LIMIT_OPTIONS } from './tokens.ts';
import { limitUnmatched } from './unmatched.ts';

/** Limits the whole application: import it once, in the root module. */
@Module({})
export class RateLimitModule implements OnModuleInit {
  readonly #options: RateLimitModuleOptions;
  readonly #host: HttpAdapterHost;
  readonly #discovery: DiscoveryService;
  readonly #reflector: Reflector;

  constructor(
    @Inject(RATE_LIMIT_OPTIONS) options: RateLimitModuleOptions,
    @Inject(HttpAdapterHost) host: HttpAdapterHost,
    @Inject(DiscoveryService) discovery: DiscoveryService,
    @Inject(Reflector) reflector: Reflector,
  ) {
    this.#options = options;
    this.#host = host;
    this.#discovery = discovery;
    this.#reflector = reflector;
  }

  /**
   * @throws ConfigError when the policy or an option is wrong
   * @example imports: [RateLimitModule.forRoot({ limiter, policy: read() })]
   */
  static forRoot(options: RateLimitModuleOptions = {}): DynamicModule {
    checkOptions('RateLimitModule.forRoot', options, ['limiter', 'policy']);
    const limiter = limiterOf(options, 'RateLimitModule.forRoot');
    if (options.policy !== undefined) limiter.register(options.policy);
    return {
      module: RateLimitModule,
      global: true,
      imports: [DiscoveryModule],
      providers: [
        { provide: RATE_LIMIT_OPTIONS, useValue: { ...options, limiter } },
        { provide: APP_GUARD, useClass: RateLimitGuard },
      ],
      exports: [RATE_LIMIT_OPTIONS],
    };
  }

  onModuleInit(): void {
    const { policy } = this.#options;
    const limiter = limiterOf(this.#options);
    for (const spec of decoratedPolicies(this.#discovery, this.#reflector)) limiter.register(spec);
    // An application without an HTTP server (a microservice) has no adapter.
    if (policy !== undefined && this.#host.httpAdapter !== undefined) limitUnmatched(this.#host, limiter, policy);
  }
}
