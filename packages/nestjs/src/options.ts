import {
  type AdapterOptions,
  checkFunction,
  checkOptions,
  ConfigError,
  limiterOf,
  type PolicySpec,
} from '@tollgate/core';
import type { FactoryProvider, ModuleMetadata, Provider, Type } from '@nestjs/common';
import type { HttpRequest } from './context.ts';
import { RATE_LIMIT_OPTIONS } from './tokens.ts';

export interface RateLimitModuleOptions extends AdapterOptions {
  /** For every route that names none, and for requests that no route takes. Default: only what is decorated is limited. */
  readonly policy?: PolicySpec<HttpRequest>;
}

/** For `useClass` and `useExisting`. */
export interface RateLimitOptionsFactory {
  createRateLimitOptions(): RateLimitModuleOptions | Promise<RateLimitModuleOptions>;
}

/** Options that depend on other providers. Exactly one of `useFactory`, `useClass` and `useExisting`. */
export interface RateLimitModuleAsyncOptions extends Pick<ModuleMetadata, 'imports'> {
  /** What `useFactory` is called with. */
  readonly inject?: FactoryProvider['inject'];
  readonly useFactory?: FactoryProvider<RateLimitModuleOptions>['useFactory'];
  readonly useClass?: Type<RateLimitOptionsFactory>;
  readonly useExisting?: Type<RateLimitOptionsFactory>;
}

/** The options with their limiter, which knows the policy by then. @throws ConfigError */
export function checkModuleOptions(where: string, options: RateLimitModuleOptions): RateLimitModuleOptions {
  checkOptions(where, options, ['limiter', 'policy']);
  const limiter = limiterOf(options, where);
  if (options.policy !== undefined) limiter.register(options.policy);
  return { ...options, limiter };
}

/** @throws ConfigError when it is not told, or told twice, where the options come from */
export function providersOf(options: RateLimitModuleAsyncOptions): Provider[] {
  const where = 'RateLimitModule.forRootAsync';
  checkOptions(where, options, ['imports', 'inject', ...SOURCES]);
  for (const name of SOURCES) checkFunction(`${where}.${name}`, options[name]);
  const given = SOURCES.filter((name) => options[name] !== undefined);
  if (given.length !== 1) {
    const received = given.length === 0 ? 'none' : given.join(' and ');
    throw new ConfigError(
      'invalid-option',
      where,
      `${where} takes one of ${SOURCES.join(', ')}; received ${received}.`,
    );
  }
  const { inject = [], useFactory, useClass, useExisting } = options;
  if (useFactory !== undefined) {
    const make = async (...args: never[]): Promise<RateLimitModuleOptions> =>
      checkModuleOptions(`${where}.useFactory`, await useFactory(...args));
    return [{ provide: RATE_LIMIT_OPTIONS, inject, useFactory: make }];
  }
  const factory = (useClass ?? useExisting) as Type<RateLimitOptionsFactory>;
  const make = async (made: RateLimitOptionsFactory): Promise<RateLimitModuleOptions> =>
    checkModuleOptions(`${factory.name}.createRateLimitOptions`, await made.createRateLimitOptions());
  return [
    ...(useClass === undefined ? [] : [useClass]),
    { provide: RATE_LIMIT_OPTIONS, inject: [factory], useFactory: make },
  ];
}

const SOURCES = ['useFactory', 'useClass', 'useExisting'] as const;
