export { rateLimit, rateLimit as default, type RateLimitOptions } from './plugin.ts';
export * from '@tollgate/core';
