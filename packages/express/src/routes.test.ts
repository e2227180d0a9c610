import { auth, rateLimit, read, routes } from './index.ts';
import { describeRoutes, overHttp, type RoutesAppSpec } from '@tollgate/core/testing';
import express5, { type IRouter, type Request, type RequestHandler } from 'express';
import express4 from 'express4';
import { createServer } from 'node:http';
import { expectTypeOf, it } from 'vitest';

for (const [version, express, wildcard] of [
  ['4', express4 as unknown as typeof express5, '/static/*'],
  ['5', express5, '/static/*rest'],
] as const) {
  /** The routes, each with these handlers before its own. */
  function addRoutes(router: IRouter, ...before: RequestHandler[]): void {
    const answer = (toHandler: (req: Request) => string): RequestHandler[] => [
      ...before,
      (req, res) => void res.setHeader('x-handler', toHandler(req)).end(),
    ];
    router.get('/login', ...answer(() => 'login'));
    router.post('/login', ...answer(() => 'login'));
    router.get('/health', ...answer(() => 'health'));
    router.get('/users/:id', ...answer((req) => `user ${encodeURIComponent(String(req.params['id']))}`));
    router.get('/:page', ...answer(() => 'page'));
    router.get(
      wildcard,
      ...answer(({ params }) => `static ${encodeURIComponent([params['rest'] ?? params['0']].flat().join('/'))}`),
    );
  }

  const createApp = (): express5.Express => express().set('env', 'test');

  describeRoutes({
    name: `express ${version}`,
    create({ limiter, table }) {
      const app = createApp().use(rateLimit(table, { limiter }));
      addRoutes(app);
      return overHttp(createServer(app));
    },
  });

  describeRoutes({
    name: `express ${version}, in each route of a mounted router`,
    prefix: '/api',
    create({ limiter, table }) {
      const router = express.Router();
      addRoutes(router, rateLimit(table, { limiter }));
      return overHttp(createServer(createApp().use('/api', router)));
    },
  });

  describeRoutes({
    name: `express ${version}, in a mounted router`,
    prefix: '/api',
    create: (spec) => mounted(spec, (router, limit) => router.use(limit)),
  });

  describeRoutes({
    name: `express ${version}, behind routes that pass on`,
    prefix: '/api',
    create: (spec) =>
      mounted(spec, (router, limit) => {
        const passOn: RequestHandler = (_req, _res, next) => next();
        router.get('/:any', passOn);
        router.get('/users/:any', passOn);
        router.use('/:any', express.Router().get('/health', passOn));
        router.use(limit);
      }),
  });

  function mounted(
    { limiter, table }: RoutesAppSpec,
    setUp: (router: IRouter, limit: RequestHandler) => unknown,
  ): ReturnType<typeof overHttp> {
    const router = express.Router();
    setUp(router, rateLimit(table, { limiter }));
    addRoutes(router);
    return overHttp(createServer(createApp().use('/api', router)));
  }
}

it("a table is of Express's requests", () => {
  rateLimit(
    routes({
      'POST /login': auth({
        username: (req) => (expectTypeOf(req).toEqualTypeOf<Request>(), req.body as unknown),
      }),
      '/users/:id': [read(), read({ name: 'users', skip: (req) => req.query['x'] === 'y' })],
      '/health': false,
    }),
  );
});
