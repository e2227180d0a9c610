import { createAdaptorServer } from '@hono/node-server';
import { type AppSpec, describeAdapter, overHttp } from '@tollgate/core/testing';
import { Hono } from 'hono';
import { stream } from 'hono/streaming';
import type { Server } from 'node:http';
import { rateLimit, type RateLimitVariables } from './index.ts';

describeAdapter({
  name: 'hono on node',
  async create({ limiter, policy, search, onRead }: AppSpec) {
    const app = new Hono<{ Variables: RateLimitVariables }>();
    app.get('/health', (c) => c.json({ ok: true }));
    app.use(rateLimit(policy, { limiter }));
    app.get('/read', (c) => {
      onRead();
      return c.json({ remaining: c.get('rateLimit')?.quota?.remaining });
    });
    app.post('/search', rateLimit(search, { limiter }), (c) => c.json({ ok: true }));
    app.get('/twice', rateLimit(policy, { limiter }), (c) => c.json({ ok: true }));
    app.get('/throw', () => {
      throw new Error('boom');
    });
    app.get('/stream', (c) =>
      stream(c, async (out) => {
        for (const part of ['one', 'two', 'three']) await out.write(part);
      }),
    );
    app.onError((_error, c) => c.text('Internal Server Error', 500));
    return overHttp(createAdaptorServer(app) as Server);
  },
});
