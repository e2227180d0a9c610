// Compiled, not run: what a user writes has types under each module resolution, and the types are not `any`.
import { createLimiter, definePolicy, memoryStore, read } from '@tollgate/core';
import { redisStore } from '@tollgate/core/redis';
import { rateLimit as forExpress } from '@tollgate/express';
import fastifyPlugin, { rateLimit as forFastify } from '@tollgate/fastify';
import { rateLimit as forHono } from '@tollgate/hono';
import { RateLimit, RateLimitGuard, RateLimitModule, SkipRateLimit } from '@tollgate/nestjs';

const policy = definePolicy({ name: 'tiny', limits: [{ limit: 2, window: '1m' }] });
const limiter = createLimiter({ store: memoryStore() });
const distributed = createLimiter({ store: redisStore('redis://127.0.0.1:6379', { prefix: 'shop' }) });

// @ts-expect-error a policy has limits
definePolicy({ name: 'none' });
// @ts-expect-error a policy is no number
forExpress(1);
// @ts-expect-error a policy is no number
forHono(1);

class Controller {
  @RateLimit(policy)
  limited(): string {
    return 'limited';
  }

  @SkipRateLimit()
  health(): string {
    return 'ok';
  }
}

export const uses = [
  forExpress(policy, { limiter }),
  forHono(read(), { limiter: distributed }),
  RateLimitModule.forRoot({ limiter, policy }),
  fastifyPlugin === forFastify,
  RateLimitGuard,
  Controller,
];
