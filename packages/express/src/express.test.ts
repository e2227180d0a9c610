import { createLimiter, definePolicy, rateLimit } from './index.ts';
import { overHttp, type RunningApp } from '@tollgate/core/testing';
import express5 from 'express';
import express4 from 'express4';
import { createServer } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';

const running: RunningApp[] = [];
afterEach(async () => {
  for (const app of running.splice(0)) await app.close();
});

const perIp = (name: string, limit: number) => definePolicy({ name, limits: [{ limit, window: '1m', per: 'ip' }] });

describe.each([
  ['4', express4 as unknown as typeof express5],
  ['5', express5],
] as const)('rateLimit on Express %s', (_, express) => {
  async function serve(
    app: ReturnType<typeof express5>,
  ): Promise<(path: string, headers?: Record<string, string>) => Promise<Response>> {
    app.set('env', 'test');
    const served = await overHttp(createServer(app));
    running.push(served);
    return (path, headers = {}) => served.fetch(new Request(`http://app.test${path}`, { headers }));
  }

  it('a route is its pattern, however the client spells the path to it', async () => {
    const app = express();
    const router = express.Router();
    const policy = definePolicy({ name: 'p', limits: [{ limit: 2, window: '1m', per: ['ip', 'route'] }] });
    router.get('/users/:id', rateLimit(policy, { limiter: createLimiter() }), (_req, res) => void res.end());
    app.use('/api', router);
    app.use('/t/:tenant', router);
    const get = await serve(app);
    const spellings = [
      '/api/users/1',
      '/API/users/2',
      '/api/USERS/3',
      '/t/1/users/1',
      '/t/%31/users/1',
      '/api/users/4?x=1',
    ];
    const statuses = [];
    for (const path of spellings) statuses.push((await get(path)).status);
    expect(statuses).toEqual([200, 200, 429, 429, 429, 429]);
  });

  it('a chooser sees the whole path under a mounted router', async () => {
    const app = express();
    const router = express.Router();
    const seen: string[] = [];
    router.use(rateLimit((ctx) => (seen.push(ctx.path), false), { limiter: createLimiter() }));
    app.use('/api', router);
    const get = await serve(app);
    await get('/api/things/7?x=1');
    expect(seen).toEqual(['/api/things/7']);
  });

  it('what is denied does not go on, also when somebody answered meanwhile', async () => {
    const app = express();
    let handled = 0;
    const policy = perIp('p', 1);
    app.use((_req, res, next) => {
      res.end('timed out');
      next();
    });
    app.use(
      rateLimit(() => new Promise((resolve) => void setTimeout(resolve, 5, policy)), { limiter: createLimiter() }),
    );
    app.use(() => void handled++);
    const get = await serve(app);
    for (let i = 0; i < 4; i++) expect(await (await get('/')).text()).toBe('timed out');
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(handled).toBe(1);
  });

  it('an error of a chooser, now or later, goes to the error handler', async () => {
    const app = express();
    const fails = [
      () => {
        throw new Error('now');
      },
      () => Promise.reject(new Error('later')),
    ];
    fails.forEach((chooser, i) => app.get(`/${i}`, rateLimit(chooser, { limiter: createLimiter() })));
    app.use(
      ((error: Error, _req, res, _next) => void res.status(503).end(error.message)) as express5.ErrorRequestHandler,
    );
    const get = await serve(app);
    expect([await (await get('/0')).text(), await (await get('/1')).text()]).toEqual(['now', 'later']);
  });

  it('follows trust proxy, and only that', async () => {
    const app = express();
    app.use(rateLimit(perIp('p', 2), { limiter: createLimiter() }), (_req, res) => void res.end());
    const get = await serve(app);
    const rotate = async () => {
      const statuses = [];
      for (let i = 0; i < 4; i++)
        statuses.push((await get('/', { 'x-forwarded-for': `6.6.6.${i}, 203.0.113.7` })).status);
      return statuses;
    };
    // Nobody is trusted: the socket is the client. Then the last hop is, and tells of one client, whatever is left of it.
    expect(await rotate()).toEqual([200, 200, 429, 429]);
    app.set('trust proxy', 'loopback');
    expect(await rotate()).toEqual([200, 200, 429, 429]);
    const spellings = ['203.0.113.9', '::ffff:203.0.113.9', '::FFFF:cb00:7109', '203.0.113.9:4711'];
    const statuses = [];
    for (const spelling of spellings) statuses.push((await get('/', { 'x-forwarded-for': spelling })).status);
    expect(statuses).toEqual([200, 200, 429, 429]);
  });

  it('tells one truth when an earlier limiter passed and a later one denies', async () => {
    const app = express();
    const limiter = createLimiter();
    app.use(rateLimit(perIp('wide', 1000), { limiter }));
    app.get(
      '/',
      rateLimit(definePolicy({ name: 'short', limits: [{ limit: 1, window: '5s', per: 'ip' }] }), { limiter }),
      (_req, res) => void res.end(),
    );
    const quiet = definePolicy({
      name: 'quiet',
      limits: [{ limit: 1, window: '1m', per: 'ip' }],
      disclose: 'retry-after',
    });
    app.get('/login', rateLimit(quiet, { limiter }), (_req, res) => void res.end());
    const get = await serve(app);
    await get('/');
    const denied = await get('/');
    const retryAfter = Number(denied.headers.get('retry-after'));
    const times = [...(denied.headers.get('ratelimit') ?? '').matchAll(/t=(\d+)/g)].map(([, t]) => Number(t));
    expect(denied.status).toBe(429);
    expect(Math.max(...times)).toBeLessThanOrEqual(retryAfter);
    expect(denied.headers.get('ratelimit-remaining')).toBe('0');
    await get('/login');
    const login = await get('/login');
    expect(login.status).toBe(429);
    expect([...login.headers.keys()].filter((name) => /ratelimit-(limit|remaining|reset)/.test(name))).toEqual([]);
  });
});
