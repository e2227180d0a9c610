export { rateLimit, type RateLimitHandler } from './rate-limit.ts';
export { auth, definePolicy, expensive, partition, read, routes, username } from './makers.ts';
export * from '@tollgate/core';
