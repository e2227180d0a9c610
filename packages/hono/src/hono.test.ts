import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { describe, expect, it } from 'vitest';
import { createLimiter, definePolicy, rateLimit, type RateLimitOptions, type RateLimitVariables } from './index.ts';

const perIp = (name: string, limit = 1) => definePolicy({ name, limits: [{ limit, window: '1m', per: 'ip' }] });
const options = (): RateLimitOptions => ({
  limiter: createLimiter({ onWarning: () => {} }),
  clientIp: () => '203.0.113.7',
});

describe('rateLimit on Hono', () => {
  it('answers without a server, where clients have no address', async () => {
    const app = new Hono<{ Variables: RateLimitVariables }>();
    app.use(rateLimit(perIp('p', 2), { limiter: createLimiter({ onWarning: () => {} }) }));
    app.get('/', (c) => c.json({ left: c.get('rateLimit')?.quota?.remaining }));
    expect(await (await app.request('/')).json()).toEqual({ left: 1 });
    expect([(await app.request('/')).status, (await app.request('/')).status]).toEqual([200, 429]);
  });

  it('writes its headers onto a response that cannot be changed, as of a fetch()', async () => {
    const app = new Hono();
    app.use(rateLimit(perIp('p', 5), options()));
    app.get('/', () => Response.redirect('https://elsewhere.test/', 302));
    const response = await app.request('/');
    expect([response.status, response.headers.get('location'), response.headers.get('ratelimit-remaining')]).toEqual([
      302,
      'https://elsewhere.test/',
      '4',
    ]);
  });

  it('keeps what others wrote on a denial, and adds to it', async () => {
    const app = new Hono();
    const shared = options();
    app.use(async (c, next) => {
      c.header('Access-Control-Allow-Origin', '*');
      c.header('RateLimit', '"edge";r=9;t=900');
      await next();
    });
    app.use(rateLimit(perIp('outer', 100), shared));
    app.get('/', rateLimit(perIp('inner'), shared), (c) => c.text('ok'));
    await app.request('/');
    const denied = await app.request('/');
    expect(denied.status).toBe(429);
    expect(denied.headers.get('access-control-allow-origin')).toBe('*');
    expect(denied.headers.get('ratelimit-remaining')).toBe('0');
    const names = [...(denied.headers.get('ratelimit') ?? '').matchAll(/"(\w+)"/g)].map(([, name]) => name);
    expect(new Set(names)).toEqual(new Set(['edge', 'inner', 'outer']));
    const times = [...(denied.headers.get('ratelimit') ?? '').matchAll(/t=(\d+)/g)].map(([, t]) => Number(t));
    expect(Math.max(...times)).toBeLessThanOrEqual(Number(denied.headers.get('retry-after')));
  });

  it('leaves errors to onError and HTTPException, and counts them', async () => {
    const app = new Hono();
    app.use(rateLimit(perIp('p', 3), options()));
    app.get('/teapot', () => {
      throw new HTTPException(418, { message: 'short and stout' });
    });
    app.onError((error, c) => (error instanceof HTTPException ? error.getResponse() : c.text('broken', 500)));
    const response = await app.request('/teapot');
    expect([response.status, response.headers.get('ratelimit-remaining')]).toEqual([418, '2']);
  });

  it('an address that is none, or cannot be had, is unknown and no error', async () => {
    const odd: unknown[] = [null, 5, {}, Promise.resolve('1.2.3.4'), 'garbage'];
    const failing = () => {
      throw new Error('no');
    };
    for (const clientIp of [...odd.map((ip) => () => ip as string), failing]) {
      const app = new Hono();
      app.use(rateLimit(perIp('p', 1), { ...options(), clientIp }));
      app.get('/', (c) => c.text('ok'));
      expect([(await app.request('/')).status, (await app.request('/')).status]).toEqual([200, 429]);
    }
  });
});
