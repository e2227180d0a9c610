// Compiled, not run: what a user writes has types under each module resolution, and the types are not `any`.
import { createLimiter, definePolicy, memoryStore, read } from '@tollgate/core';
import { redisStore } from '@tollgate/core/redis';
import { rateLimit as forExpress } from '@tollgate/express';
import fastifyPlugin, { rateLimit as forFastify } from '@tollgate/fastify';
import { rateLimit as forHono } from '@tollgate/hono';
import { RateLimit, RateLimitGuard, RateLimitModule, SkipRateLimit } from '@tollgate/nestjs';
import type { Request } from 'express';
import { Hono } from 'hono';
import { hc } from 'hono/client';

const policy = definePolicy({ name: 'tiny', limits: [{ limit: 2, window: '1m' }] });
const limiter = createLimiter({ store: memoryStore() });
const distributed = createLimiter({ store: redisStore('redis://127.0.0.1:6379', { prefix: 'shop' }) });

// @ts-expect-error a policy has limits
definePolicy({ name: 'none' });
// @ts-expect-error a policy is no number
forExpress(1);
// @ts-expect-error a policy is no number
forHono(1);

export function left(req: Request): number | undefined {
  // @ts-expect-error the decision that the import of the adapter adds has a type
  req.rateLimit?.quota?.remainder;
  return req.rateLimit?.quota?.remaining;
}

const notes = new Hono()
  .use(forHono(read()))
  .get('/notes/:id', forHono(policy), (c) =>
    c.json({ id: c.req.param('id'), allowed: c.var.rateLimit?.allowed === true }),
  );

export async function firstNote(): Promise<{ id: string; allowed: boolean }> {
  const client = hc<typeof notes>('http://127.0.0.1');
  // @ts-expect-error the typed client knows the parameter
  await client.notes[':id'].$get({ param: { name: '1' } });
  const response = await client.notes[':id'].$get({ param: { id: '1' } });
  return response.json();
}

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
