// The application that each runtime serves: what is the runtime's own, it passes in.
import {
  createLimiter,
  definePolicy,
  memoryStore,
  type Policy,
  rateLimit,
  type RateLimitOptions,
} from '@tollgate/hono';
import { type Context, type Handler, Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { streamText } from 'hono/streaming';

// When the module is loaded, as applications do it: where runtimes forbid timers, random numbers and the clock.
const limiter = createLimiter({ store: memoryStore() });

const perIp = (name: string, limit: number): Policy<Context> =>
  definePolicy<Context>({ name, limits: [{ limit, window: '1m', per: 'ip' }] });

/**
 * @param options how the runtime's own application would know the client behind a proxy of the same machine
 * @param upgrade answers a WebSocket that sends back what it gets
 */
export function createApp(options: Omit<RateLimitOptions, 'limiter'>, upgrade: Handler): Hono {
  const app = new Hono();
  app.get('/health', (c) => c.text('ok'));
  app.get('/direct', rateLimit(perIp('direct', 3), { limiter }), (c) =>
    c.json({ remaining: c.var.rateLimit?.quota?.remaining }),
  );
  app.get('/proxied', rateLimit(perIp('proxied', 1), { limiter, ...options }), (c) => c.text('ok'));

  app.use(rateLimit(perIp('rest', 1000), { limiter, ...options }));
  app.get('/fetched', (c) => fetch(new URL('/health', c.req.url)));
  app.get('/socket', upgrade);
  app.get('/refused', () => {
    throw new HTTPException(403, { message: 'no' });
  });
  app.get('/stream', (c) =>
    streamText(c, async (out) => {
      await out.write('one');
      await out.write('two');
      await out.write('three');
    }),
  );
  return app;
}
