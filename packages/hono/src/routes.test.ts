import { createAdaptorServer } from '@hono/node-server';
import { describeRoutes, overHttp } from '@tollgate/core/testing';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import type { Server } from 'node:http';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { auth, createLimiter, rateLimit, read, routes } from './index.ts';

/** The routes, behind a prefix; `method` is what all but the login are for. */
function addRoutes(app: Hono, prefix = '', method: 'get' | 'all' = 'get'): Hono {
  const rest = ({ req }: Context): string => encodeURIComponent(req.path.replace(/^.*?\/static\/?/, ''));
  app.on(['GET', 'POST'], `${prefix}/login`, (c) => c.body(null, 200, { 'x-handler': 'login' }));
  app[method](`${prefix}/health`, (c) => c.body(null, 200, { 'x-handler': 'health' }));
  app[method](`${prefix}/:page`, (c) => c.body(null, 200, { 'x-handler': 'page' }));
  app[method](`${prefix}/users/:id`, (c) =>
    c.body(null, 200, { 'x-handler': `user ${encodeURIComponent(c.req.param('id') ?? '')}` }),
  );
  app[method](`${prefix}/static/*`, (c) => c.body(null, 200, { 'x-handler': `static ${rest(c)}` }));
  return app;
}

interface Subject {
  readonly prefix?: string;
  readonly make: (limit: MiddlewareHandler) => Hono;
}

const SUBJECTS: Readonly<Record<string, Subject>> = {
  'hono': { make: (limit) => addRoutes(new Hono().use(limit)) },
  'hono, without strict': { make: (limit) => addRoutes(new Hono({ strict: false }).use(limit)) },
  'hono, for all methods': { make: (limit) => addRoutes(new Hono().use(limit), '', 'all') },
  'hono, in each route': {
    prefix: '/api',
    make: (limit) =>
      addRoutes(new Hono().use('/api/users/*', limit).use('/api/:page', limit).use('/api/static/*', limit), '/api'),
  },
  'hono, with a base path': { prefix: '/api', make: (limit) => addRoutes(new Hono().basePath('/api').use(limit)) },
  'hono, in a sub-application': {
    prefix: '/api',
    make: (limit) =>
      new Hono().route('/api', addRoutes(new Hono().use(limit).onError((_error, c) => c.text('broken', 500)))),
  },
  'hono, behind handlers that pass on': {
    make: (limit) => {
      const app = new Hono().use(limit);
      app.get('/:any', (_, next) => next());
      app.get('/users/:any', (_, next) => next());
      return addRoutes(app);
    },
  },
};

for (const [name, { prefix = '', make }] of Object.entries(SUBJECTS)) {
  describeRoutes({
    name,
    prefix,
    create: ({ limiter, table }) => overHttp(createAdaptorServer(make(rateLimit(table, { limiter }))) as Server),
  });
}

describe('the route of a request on Hono', () => {
  const seen: (string | undefined)[] = [];
  const look = rateLimit((ctx) => (seen.push(ctx.route), false), { limiter: createLimiter() });

  it.each<[what: string, path: string, expected: string, setUp: (app: Hono) => unknown, method?: string]>([
    [
      'the pattern of its handler',
      '/users/7',
      '/users/:id',
      (app) => app.use(look).get('/users/:id', (c) => c.text('ok')),
    ],
    [
      'of HEAD, that of GET',
      '/users/7',
      '/users/:id',
      (app) => app.use(look).get('/users/:id', (c) => c.text('ok')),
      'HEAD',
    ],
    [
      'not of a middleware',
      '/a/b',
      '/a/:b',
      (app) =>
        app
          .use(look)
          .use('/a/b', (_, next) => next())
          .get('/a/:b', (c) => c.text('ok')),
    ],
    [
      'for all methods, the last',
      '/a/b',
      '/a/b',
      (app) =>
        app
          .use(look)
          .all('/:x/b', (_, next) => next())
          .all('/a/b', (c) => c.text('ok')),
    ],
    ['of a route, its own', '/a', '/a', (app) => app.get('/a', look, (c) => c.text('ok'))],
    [
      'not of what was before it',
      '/a',
      '/:late',
      (app) =>
        app
          .get('/a', (_, next) => next())
          .use(look)
          .get('/:late', (c) => c.text('ok')),
    ],
    [
      'with the base path',
      '/v1/a',
      '/v1/a',
      (app) =>
        app
          .basePath('/v1')
          .use(look)
          .get('/a', (c) => c.text('ok')),
    ],
    [
      'with that of its application',
      '/v1/a',
      '/v1/a',
      (app) =>
        app.use(look).route(
          '/v1',
          new Hono().get('/a', (c) => c.text('ok')),
        ),
    ],
    [
      'where none will answer, that of the middleware',
      '/none',
      '/*',
      (app) => app.use(look).get('/a', (c) => c.text('ok')),
    ],
    ['and where it may be anything', '/x/y', '/x/*', (app) => app.use('/x/*', look).get('*', (c) => c.text('ok'))],
    [
      'where a middleware may answer, too',
      '/m/a',
      '/*',
      (app) => app.use(look).use('/m/*', () => Promise.resolve(new Response('ok'))),
    ],
  ])('is %s', async (_, path, expected, setUp, method = 'GET') => {
    const app = new Hono();
    setUp(app);
    seen.length = 0;
    await app.request(path, { method });
    expect(seen).toEqual([expected]);
  });
});

it("a table is of Hono's contexts", () => {
  rateLimit(
    routes({
      'POST /login': auth({
        username: async (c) => (expectTypeOf(c).toEqualTypeOf<Context>(), (await c.req.parseBody())['name']),
      }),
      '/users/:id': [read(), read({ name: 'users', skip: (c) => c.req.query('x') === 'y' })],
      '/health': false,
    }),
  );
});
