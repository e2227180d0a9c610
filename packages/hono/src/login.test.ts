import { createAdaptorServer } from '@hono/node-server';
import { describeLogin, overHttp } from '@tollgate/core/testing';
import { type Context, Hono } from 'hono';
import type { Server } from 'node:http';
import { rateLimit } from './index.ts';

/** Hono reads a body once, and answers it as often as it is asked for. */
const bodyOf = (c: Context): Promise<{ name?: unknown }> => c.req.json<{ name?: unknown }>();

describeLogin({
  name: 'hono on node',
  create({ limiter, policies, answer }) {
    const app = new Hono();
    const by = policies<Context>(async (c) => (await bodyOf(c)).name);
    for (const step of ['login', 'code'] as const) {
      app.post(`/${step}`, rateLimit(by[step], { limiter, trustProxy: 'loopback' }), async (c) => {
        const { status, body } = answer(step, await bodyOf(c));
        return c.json(body, status);
      });
    }
    return overHttp(createAdaptorServer(app) as Server);
  },
});
