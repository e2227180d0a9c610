export { rateLimit } from './rate-limit.ts';
export * from '@tollgate/core';
