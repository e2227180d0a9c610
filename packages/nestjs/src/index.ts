export { RateLimit, SkipRateLimit } from './decorators.ts';
export { RateLimitException } from './enforce.ts';
export { RateLimitGuard } from './rate-limit.guard.ts';
export { RateLimitModule } from './rate-limit.module.ts';
export type { RateLimitModuleOptions } from './options.ts';
export type { HttpRequest } from './context.ts';
export { RATE_LIMIT_OPTIONS } from './tokens.ts';
export { auth, definePolicy, expensive, partition, read, routes, username } from './makers.ts';
export * from '@tollgate/core';
