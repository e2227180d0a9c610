import { type AppSpec, describeAdapter, overHttp } from '@tollgate/core/testing';
import express5, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import express4 from 'express4';
import { createServer } from 'node:http';
import { rateLimit } from './index.ts';

for (const [version, express] of [
  ['4', express4 as unknown as typeof express5],
  ['5', express5],
] as const) {
  describeAdapter({
    name: `express ${version}`,
    composition: { route: 'adds', scope: 'adds' },
    async create(spec) {
      const { limiter, policy, search, users, chosen, login, onRead } = spec;
      const app = express();
      // Keeps the stack traces of handlers that fail out of the test's output.
      app.set('env', 'test');
      app.set('trust proxy', 'loopback');
      app.get('/health', (_req, res) => void res.json({ ok: true }));
      app.use(identify);
      app.use(rateLimit(policy, { limiter }));
      app.get('/read', (req, res) => {
        onRead();
        res.json({ remaining: req.rateLimit?.quota?.remaining });
      });
      app.post('/search', rateLimit(search, { limiter }), ok);
      app.get('/twice', rateLimit(policy, { limiter }), ok);
      app.get('/users/:id', rateLimit(users, { limiter }), (req, res) => void res.json({ id: req.params['id'] }));
      app.get('/chosen', rateLimit(chosen, { limiter }), ok);
      app.use('/nested', nested(express, spec));
      app.post('/echo', express.json({ limit: 100_000 }), (req, res) => void res.json(req.body));
      const byName = login<{ body?: { name?: unknown } }>((req) => req.body?.name);
      app.post('/login', express.json(), rateLimit(byName, { limiter }), (req, res) => {
        res.sendStatus((req.body as { secret?: unknown }).secret === 'right' ? 200 : 401);
      });
      app.get('/private', authenticate, (req, res) => void res.json({ user: userOf(req) }));
      addAnswers(app);
      addPieces(app, spec);
      app.use(((error, _req, _res, next) => {
        spec.onError(error);
        next(error);
      }) satisfies ErrorRequestHandler);
      return overHttp(createServer(app));
    },
    skipHttp2: 'Express makes its requests of http.IncomingMessage, which those of HTTP/2 are not',
  });
}

const ok: RequestHandler = (_req, res) => void res.json({ ok: true });

const userOf = (req: object): unknown => (req as { user?: unknown }).user;

const identify: RequestHandler = (req, _res, next) => {
  Object.assign(req, { user: req.get('x-user') });
  next();
};

const authenticate: RequestHandler = (req, res, next) => {
  if (userOf(req) === undefined) res.sendStatus(401);
  else next();
};

function nested(express: typeof express5, { limiter, nested: policy, own }: AppSpec): RequestHandler {
  const router = express.Router();
  const left: RequestHandler = (req, res) => void res.json({ remaining: req.rateLimit?.quota?.remaining });
  router.use(rateLimit(policy, { limiter }));
  router.get('/read', left);
  router.get('/own', rateLimit(own, { limiter }), left);
  return router;
}

function addAnswers(app: Express): void {
  app.get('/teapot', (_req, res) => void res.status(418).set('cache-control', 'max-age=60').json({ tea: true }));
  app.get('/redirect', (_req, res) => res.redirect('/read'));
  app.get('/tagged', (_req, res) => void res.set('etag', '"v1"').json({ ok: true }));
  app.get('/throw', () => {
    throw new Error('boom');
  });
  // Express 4 does not look at promises: there, it is the application that hands errors on.
  app.get('/reject', (_req, _res, next) => void Promise.reject(new Error('boom')).catch(next));
}

function addPieces(app: Express, { slow }: AppSpec): void {
  app.get('/slow', async (_req, res) => {
    await slow();
    res.json({ ok: true });
  });
  app.get('/stream', (_req, res) => {
    for (const part of ['one', 'two', 'three']) res.write(part);
    res.end();
  });
  app.get('/early', async (_req, res) => {
    res.write('one');
    await slow();
    res.end('two');
  });
  app.get('/broken', (_req, res) => {
    res.write('one');
    setTimeout(() => res.destroy(new Error('broken')), 10);
  });
  app.get('/late', (_req, res) => {
    res.write('one');
    throw new Error('boom');
  });
}
