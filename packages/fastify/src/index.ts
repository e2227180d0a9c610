export { rateLimit, rateLimit as default, type RateLimitOptions } from './plugin.ts';
export type { RouteCoverage } from './coverage.ts';
export * from '@tollgate/core';
