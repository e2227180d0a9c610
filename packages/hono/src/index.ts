export { rateLimit, type RateLimitOptions, type RateLimitVariables } from './rate-limit.ts';
export * from '@tollgate/core';
