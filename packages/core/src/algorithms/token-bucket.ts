import type { Algorithm } from './algorithm.ts';
import { bucket, type BucketState } from './bucket.ts';

/**
 * Token bucket: up to `burst` units at once, refilled evenly at `limit` per window.
 *
 * For: expensive endpoints, where a short burst is fine and the average has to hold. Costs: one short string per key,
 * constant time. Bound: at most floor((burst·W + L·T)/W) units in any T; after a pause never more than `burst`.
 */
export const tokenBucket: Algorithm<BucketState> = { name: 'token-bucket', code: 'tb', ...bucket };
