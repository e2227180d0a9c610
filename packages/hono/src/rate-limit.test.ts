import { createAdaptorServer } from '@hono/node-server';
import { type AppSpec, describeAdapter, overHttp } from '@tollgate/core/testing';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { HTTPException } from 'hono/http-exception';
import { stream } from 'hono/streaming';
import type { Server } from 'node:http';
import { createServer } from 'node:http2';
import { rateLimit, type RateLimitVariables } from './index.ts';

type App = Hono<{ Variables: RateLimitVariables & { user?: string | undefined } }>;

describeAdapter({
  name: 'hono on node',
  composition: { route: 'adds', scope: 'adds' },
  async create(spec) {
    const { policy, search, users, chosen, login, onRead, onError } = spec;
    const options = { limiter: spec.limiter, trustProxy: 'loopback' } as const;
    const app: App = new Hono();
    app.get('/health', (c) => c.json({ ok: true }));
    app.use(async (c, next) => {
      c.set('user', c.req.header('x-user'));
      await next();
    });
    app.use(rateLimit(policy, options));
    app.get('/read', (c) => {
      onRead();
      return c.json(left(c));
    });
    app.post('/search', rateLimit(search, options), (c) => c.json({ ok: true }));
    app.get('/twice', rateLimit(policy, options), (c) => c.json({ ok: true }));
    app.get('/users/:id', rateLimit(users, options), (c) => c.json({ id: c.req.param('id') }));
    app.get('/chosen', rateLimit(chosen, options), (c) => c.json({ ok: true }));
    const scope: App = new Hono();
    scope.use(rateLimit(spec.nested, options));
    scope.get('/read', (c) => c.json(left(c)));
    scope.get('/own', rateLimit(spec.own, options), (c) => c.json(left(c)));
    app.route('/nested', scope);
    app.post('/echo', bodyLimit({ maxSize: 100_000 }), async (c) => c.json((await bodyOf(c)) as object));
    const byName = login<Context>(async (c) => ((await bodyOf(c)) as { name?: unknown }).name);
    app.post('/login', rateLimit(byName, options), async (c) => {
      const { secret } = (await bodyOf(c)) as { secret?: unknown };
      return c.json({}, secret === 'right' ? 200 : 401);
    });
    app.get('/private', authenticate, (c) => c.json({ user: c.get('user') }));
    addAnswers(app);
    addPieces(app, spec);
    app.onError((error, c) => {
      if (error instanceof HTTPException) return error.getResponse();
      onError(error);
      return c.text('Internal Server Error', 500);
    });
    const server = spec.http2
      ? createAdaptorServer({ fetch: app.fetch, createServer })
      : createAdaptorServer({ fetch: app.fetch });
    return overHttp(server as Server);
  },
});

const left = (c: Context<{ Variables: RateLimitVariables }>): object => ({
  remaining: c.get('rateLimit')?.quota?.remaining,
});

const authenticate: MiddlewareHandler = (c, next) => {
  if (c.get('user') === undefined) throw new HTTPException(401);
  return next();
};

/** Hono reads a body once, and answers it as often as it is asked for. */
async function bodyOf(c: Context): Promise<unknown> {
  try {
    return await c.req.json();
  } catch {
    throw new HTTPException(400);
  }
}

function addAnswers(app: App): void {
  app.get('/teapot', (c) => c.json({ tea: true }, 418, { 'cache-control': 'max-age=60' }));
  app.get('/redirect', (c) => c.redirect('/read'));
  app.get('/tagged', (c) => {
    const headers = { etag: '"v1"' };
    return c.req.header('if-none-match') === '"v1"' ? c.body(null, 304, headers) : c.json({ ok: true }, 200, headers);
  });
  app.get('/throw', () => {
    throw new Error('boom');
  });
  app.get('/reject', () => Promise.reject(new Error('boom')));
}

function addPieces(app: App, { slow }: AppSpec): void {
  app.get('/slow', async (c) => {
    await slow();
    return c.json({ ok: true });
  });
  app.get('/stream', (c) =>
    stream(c, async (out) => {
      for (const part of ['one', 'two', 'three']) await out.write(part);
    }),
  );
  app.get('/early', (c) =>
    stream(c, async (out) => {
      await out.write('one');
      await slow();
      await out.write('two');
    }),
  );
  const failing = (): ReadableStream<Uint8Array> =>
    new ReadableStream({
      async pull(controller) {
        controller.enqueue(new TextEncoder().encode('one'));
        await new Promise((resolve) => setTimeout(resolve, 10));
        controller.error(new Error('broken'));
      },
    });
  app.get('/broken', (c) => c.body(failing()));
  // What Hono has of a handler that throws when it has begun: its stream helper, which ends the answer.
  app.get('/late', (c) =>
    stream(
      c,
      async (out) => {
        await out.write('one');
        throw new Error('boom');
      },
      async () => {},
    ),
  );
}
