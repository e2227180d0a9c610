export { RateLimit, SkipRateLimit } from './decorators.ts';
export { RateLimitException } from './response.ts';
export { RateLimitGuard } from './rate-limit.guard.ts';
export { RateLimitModule } from './rate-limit.module.ts';
export type { RateLimitModuleAsyncOptions, RateLimitModuleOptions, RateLimitOptionsFactory } from './options.ts';
export { type HttpRequest, type HttpResponse, NestContext } from './context.ts';
export { RATE_LIMIT_OPTIONS, RATE_LIMITER } from './tokens.ts';
export { auth, definePolicy, expensive, partition, read, routes, username } from './makers.ts';
export * from '@tollgate/core';
