import { overHttp, type RunningApp } from '@tollgate/core/testing';
import express5, { type Request, type RequestHandler, type Router } from 'express';
import express4 from 'express4';
import { createServer } from 'node:http';
import { afterEach, describe, expect, expectTypeOf, it } from 'vitest';
import { createLimiter, type Decision, definePolicy, partition, type Policy, rateLimit } from './index.ts';

const running: RunningApp[] = [];
afterEach(async () => {
  for (const app of running.splice(0)) await app.close();
});

function policy(name: string, limit: number): Policy<Request> {
  return definePolicy<Request>({ name, limits: [{ limit, window: '1m', per: 'ip' }] });
}
const ok: RequestHandler = (_req, res) => void res.end('ok');
const quiet = () => createLimiter({ onWarning: () => {} });

describe.each([
  ['4', express4 as unknown as typeof express5],
  ['5', express5],
] as const)('rateLimit mounted on Express %s', (_, express) => {
  /** The statuses of requests in turn, `POST /path` or just `/path`. */
  async function statuses(setUp: (app: express5.Express) => unknown, ...requests: string[]): Promise<number[]> {
    const responses = await answers(setUp, ...requests);
    return responses.map(({ status }) => status);
  }

  async function answers(setUp: (app: express5.Express) => unknown, ...requests: string[]): Promise<Response[]> {
    const app = express();
    app.set('env', 'test');
    setUp(app);
    const served = await overHttp(createServer(app));
    running.push(served);
    const seen = [];
    for (const one of requests) {
      const [, method = 'GET', path = ''] = /^(?:([A-Z]+) )?(.*)$/.exec(one) ?? [];
      seen.push(await served.fetch(new Request(`http://app.test${path}`, { method })));
    }
    return seen;
  }

  it('on the application, limits what comes after it', async () => {
    const setUp = (app: express5.Express): unknown =>
      app
        .get('/before', ok)
        .use(rateLimit(policy('p', 1), { limiter: quiet() }))
        .get('/after', ok);
    expect(await statuses(setUp, '/after', '/after', '/nothing', '/before')).toEqual([200, 429, 429, 200]);
  });

  it('on a path, limits what is below it, for all methods', async () => {
    const setUp = (app: express5.Express): unknown =>
      app.use('/api', rateLimit(policy('p', 2), { limiter: quiet() })).use(ok);
    expect(await statuses(setUp, '/api', '/other', 'POST /api/x', '/api/y?z', '/apis', 'DELETE /api')).toEqual([
      200, 200, 200, 429, 200, 429,
    ]);
  });

  it('on several paths, is one limiter', async () => {
    const setUp = (app: express5.Express): unknown =>
      app.use(['/a', '/b'], rateLimit(policy('p', 1), { limiter: quiet() })).use(ok);
    expect(await statuses(setUp, '/a', '/b', '/c')).toEqual([200, 429, 200]);
  });

  it('on a route, limits it alone, in lists of handlers as well', async () => {
    const limiter = quiet();
    const list = [rateLimit(policy('first', 3), { limiter }), [rateLimit(policy('second', 1), { limiter })]];
    const setUp = (app: express5.Express): unknown => {
      app.post('/a', ...(list as RequestHandler[]), ok);
      app
        .route('/b')
        .all(rateLimit(policy('b', 2), { limiter }))
        .get(ok)
        .post(ok);
      return app.get('/a', ok);
    };
    expect(await statuses(setUp, 'POST /a', 'POST /a', '/a', '/b', 'POST /b', '/b')).toEqual([
      200, 429, 200, 200, 200, 429,
    ]);
  });

  it('in nested routers, sees the parameters of those around it where they are merged', async () => {
    const per = partition<Request>('tenant', (req) => String(req.params['tenant']));
    const byTenant = definePolicy<Request>({ name: 'p', limits: [{ limit: 1, window: '1m', per }] });
    const inner: Router = express.Router({ mergeParams: true });
    inner.get('/notes', rateLimit(byTenant, { limiter: quiet() }), ok);
    const outer: Router = express.Router({ mergeParams: true }).use('/v1', inner);
    const setUp = (app: express5.Express): unknown => app.use('/:tenant', outer);
    expect(await statuses(setUp, '/a/v1/notes', '/b/v1/notes', '/a/v1/notes', '/b/v1/notes')).toEqual([
      200, 200, 429, 429,
    ]);
  });

  it('in a router that is mounted twice, counts for both places', async () => {
    const router = express
      .Router()
      .use(rateLimit(policy('p', 2), { limiter: quiet() }))
      .get('/', ok);
    const setUp = (app: express5.Express): unknown => app.use('/one', router).use('/two', router);
    expect(await statuses(setUp, '/one', '/two', '/one', '/two')).toEqual([200, 200, 429, 429]);
  });

  it('twice on the way of a request, charges it once', async () => {
    const limit = rateLimit(policy('p', 2), { limiter: quiet() });
    const router = express.Router().use(limit).get('/', limit, ok);
    const through = express.Router().use(limit, (_req, _res, next) => next('router'));
    const setUp = (app: express5.Express): unknown => app.use(limit, through).use('/api', router);
    expect(await statuses(setUp, '/api', '/api', '/api')).toEqual([200, 200, 429]);
  });

  it('in a sub-application, counts what that serves', async () => {
    const sub = express();
    sub.use(rateLimit(policy('p', 1), { limiter: quiet() }), ok);
    const setUp = (app: express5.Express): unknown => app.use('/sub', sub).use(ok);
    expect(await statuses(setUp, '/sub', '/sub/x', '/')).toEqual([200, 429, 200]);
  });

  it('ends an answer that was begun before it denies', async () => {
    const begun: RequestHandler = (_req, res, next) => {
      res.flushHeaders();
      next();
    };
    const setUp = (app: express5.Express): unknown =>
      app.use(begun, rateLimit(policy('p', 1), { limiter: quiet() }), ok);
    const bodies = (await answers(setUp, '/', '/')).map((answer) => answer.text());
    expect((await Promise.all(bodies))[1]).toBe('');
  });

  it('leaves the types of the path to the handlers behind it', () => {
    const app = express5();
    app.get('/users/:id', rateLimit(policy('p', 1)), (req) => void expectTypeOf(req.params.id).toEqualTypeOf<string>());
  });

  it('with another further in, tells of both, and leaves the decision of the last', async () => {
    const limiter = quiet();
    const seen: (Decision | undefined)[] = [];
    const look: RequestHandler = (req, res) => {
      expectTypeOf(req.rateLimit).toEqualTypeOf<Decision | undefined>();
      seen.push(req.rateLimit);
      res.end();
    };
    const setUp = (app: express5.Express): unknown =>
      app
        .get('/free', look)
        .use(rateLimit(policy('outer', 100), { limiter }))
        .get('/', look)
        .get('/inner', rateLimit(policy('inner', 5), { limiter }), look);
    const [, , inner] = await answers(setUp, '/free', '/', '/inner');
    const named = [...(inner?.headers.get('ratelimit-policy') ?? '').matchAll(/"(\w+)"/g)].map(([, name]) => name);
    expect(named).toEqual(['outer', 'inner']);
    expect(inner?.headers.get('ratelimit-remaining')).toBe('4');
    expect(seen.map((decision) => decision?.quota?.limit)).toEqual([undefined, 100, 5]);
  });
});
