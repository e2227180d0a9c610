import { type DynamicModule, Inject, Module, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import {
  APP_GUARD,
  APP_INTERCEPTOR,
  ApplicationConfig,
  DiscoveryModule,
  DiscoveryService,
  HttpAdapterHost,
  Reflector,
} from '@nestjs/core';
import { limiterOf } from '@tollgate/core';
import { decoratedPolicies } from './decorated-policies.ts';
import { warnOfGuardsBefore } from './guard-order.ts';
import {
  checkModuleOptions,
  providersOf,
  type RateLimitModuleAsyncOptions,
  type RateLimitModuleOptions,
} from './options.ts';
import { RateLimitGuard } from './rate-limit.guard.ts';
import { RateLimitInterceptor } from './rate-limit.interceptor.ts';
import { RATE_LIMIT_OPTIONS, RATE_LIMITER } from './tokens.ts';
import { limitUnmatched } from './unmatched.ts';

/** Limits the whole application: import it once, in the root module, before the modules that authenticate. */
@Module({})
export class RateLimitModule implements OnModuleInit, OnApplicationBootstrap {
  readonly #options: RateLimitModuleOptions;
  readonly #host: HttpAdapterHost;
  readonly #config: ApplicationConfig;
  readonly #discovery: DiscoveryService;
  readonly #reflector: Reflector;

  constructor(
    @Inject(RATE_LIMIT_OPTIONS) options: RateLimitModuleOptions,
    @Inject(HttpAdapterHost) host: HttpAdapterHost,
    @Inject(ApplicationConfig) config: ApplicationConfig,
    @Inject(DiscoveryService) discovery: DiscoveryService,
    @Inject(Reflector) reflector: Reflector,
  ) {
    this.#options = options;
    this.#host = host;
    this.#config = config;
    this.#discovery = discovery;
    this.#reflector = reflector;
  }

  /**
   * @throws ConfigError when the policy or an option is wrong
   * @example imports: [RateLimitModule.forRoot({ limiter, policy: read() })]
   */
  static forRoot(options: RateLimitModuleOptions = {}): DynamicModule {
    return toModule({
      providers: [{ provide: RATE_LIMIT_OPTIONS, useValue: checkModuleOptions('RateLimitModule.forRoot', options) }],
    });
  }

  /**
   * As `forRoot`, with options that other providers know. What is wrong with them rejects the start.
   * @throws ConfigError when it is not told where the options come from
   * @example imports: [RateLimitModule.forRootAsync({ inject: [Settings], useFactory: ({ limiter }) => ({ limiter }) })]
   */
  static forRootAsync(options: RateLimitModuleAsyncOptions): DynamicModule {
    return toModule({ providers: providersOf(options), imports: options.imports ?? [] });
  }

  onModuleInit(): void {
    const { policy } = this.#options;
    // Null, whatever its type says, in an application without an HTTP server: a microservice, a script.
    const hasServer = Boolean(this.#host.httpAdapter as unknown);
    const limiter = limiterOf(this.#options);
    for (const spec of decoratedPolicies(this.#discovery, this.#reflector)) limiter.register(spec);
    if (policy !== undefined && hasServer) limitUnmatched(this.#host, limiter, policy);
  }

  onApplicationBootstrap(): void {
    warnOfGuardsBefore(this.#config, limiterOf(this.#options));
  }
}

function toModule({ imports = [], providers = [] }: Pick<DynamicModule, 'imports' | 'providers'>): DynamicModule {
  return {
    module: RateLimitModule,
    global: true,
    imports: [DiscoveryModule, ...imports],
    providers: [
      ...providers,
      { provide: RATE_LIMITER, inject: [RATE_LIMIT_OPTIONS], useFactory: limiterOf },
      RateLimitGuard,
      { provide: APP_GUARD, useExisting: RateLimitGuard },
      { provide: APP_INTERCEPTOR, useClass: RateLimitInterceptor },
    ],
    exports: [RATE_LIMIT_OPTIONS, RATE_LIMITER, RateLimitGuard],
  };
}
