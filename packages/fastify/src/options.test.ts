import { describeOptions, limiterValues, NO_OBJECTS, policyValues } from '@tollgate/core/testing';
import { fastify } from 'fastify';
import { createLimiter, rateLimit, type RateLimitOptions } from './index.ts';

describeOptions<RateLimitOptions>({
  at: 'rateLimit',
  base: { limiter: createLimiter() },
  async make(options) {
    await fastify().register(rateLimit, options);
  },
  options: {
    limiter: limiterValues(),
    policy: { ...policyValues(), option: 'policy' },
    // Fastify's own.
    prefix: { good: ['/x'], bad: [] },
    logLevel: { good: ['warn'], bad: [] },
    logSerializers: { good: [{}], bad: [] },
  },
  // Fastify takes null and '' for none, and calls a function.
  noObjects: NO_OBJECTS.filter((one) => Boolean(one) && typeof one !== 'function'),
});
