import type { Algorithm } from './algorithm.ts';
import { bucket, type BucketState } from './bucket.ts';

/**
 * Leaky bucket: requests leave evenly, one unit each `windowMs / limit`, and `burst` is the queue before it.
 *
 * For: protecting what takes load only at an even rate, such as a partner's API. Policing denies what finds the queue
 * full. Shaping (`shape: { maxDelay }`) lets an admitted request wait for its turn, if that comes within `maxDelay`; it
 * keeps its turn even if the client goes away. At most `burst` units wait at a time, for at most `maxDelay`.
 * Costs: one short string per key, constant time; shaping holds the waiting requests open.
 * Bound: policing, as a token bucket; shaping starts requests at least W/L apart, rounded up to whole ms.
 */
export const leakyBucket: Algorithm<BucketState> = { name: 'leaky-bucket', code: 'lb', ...bucket };
