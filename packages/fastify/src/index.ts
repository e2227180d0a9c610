export { rateLimit, rateLimit as default, type RateLimitOptions, type RoutePolicy } from './plugin.ts';
export type { RouteCoverage } from './coverage.ts';
export { auth, definePolicy, expensive, partition, read, routes, username } from './makers.ts';
export * from '@tollgate/core';
