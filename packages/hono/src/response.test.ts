import { createAdaptorServer } from '@hono/node-server';
import { overHttp, type RunningApp } from '@tollgate/core/testing';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { mount } from 'hono/mount';
import { streamSSE, streamText } from 'hono/streaming';
import { createServer, type Server } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { createLimiter, definePolicy, rateLimit, type ResponseFacts } from './index.ts';

const running: RunningApp[] = [];
afterEach(async () => {
  for (const app of running.splice(0)) await app.close();
});

async function serve(app: Hono): Promise<(path: string, init?: RequestInit) => Promise<Response>> {
  const served = await overHttp(createAdaptorServer(app) as Server);
  running.push(served);
  return (path, init) => served.fetch(new Request(`http://app.test${path}`, { redirect: 'manual', ...init }));
}

function limit(name = 'p', quota = 100, limiter = createLimiter({ onWarning: () => {} })): MiddlewareHandler {
  return rateLimit(definePolicy({ name, limits: [{ limit: quota, window: '1m', per: 'ip' }] }), { limiter });
}

/** Names in a structured list, in their order. */
const named = (header: string | null): string[] =>
  [...(header ?? '').matchAll(/"(\w+)"/g)].map(([, name = '']) => name);

describe('the headers on Hono', () => {
  const upstream = createServer((_req, res) => void res.setHeader('set-cookie', ['a=1', 'b=2']).end('from elsewhere'));

  it.each<[name: string, answer: (c: Context) => Response | Promise<Response>, status: number]>([
    ['text', (c) => c.text('ok'), 200],
    ['a response of its own', () => new Response('ok', { status: 201 }), 201],
    ['nothing to say', (c) => c.body(null, 204), 204],
    ['not modified', (c) => c.body(null, 304), 304],
    ['a redirect', (c) => c.redirect('/elsewhere'), 302],
    ['a redirect that is immutable', () => Response.redirect('http://elsewhere.test/', 302), 302],
    ['not found, said by the handler', (c) => c.notFound(), 404],
    [
      'an exception',
      () => {
        throw new HTTPException(418);
      },
      418,
    ],
    [
      'an exception with a response of its own',
      () => {
        throw new HTTPException(401, { res: new Response('who?', { headers: { 'www-authenticate': 'Basic' } }) });
      },
      401,
    ],
  ])('are on %s, once', async (_, answer, status) => {
    const app = new Hono();
    app.use(limit()).get('/', answer);
    const get = await serve(app);
    for (const method of ['GET', 'HEAD']) {
      const response = await get('/', { method });
      expect(response.status).toBe(status);
      expect(named(response.headers.get('ratelimit-policy'))).toEqual(['p']);
      expect(response.headers.get('ratelimit-remaining')).toBe(method === 'GET' ? '99' : '98');
    }
  });

  it('are on what another server answered, which cannot be changed', async () => {
    const elsewhere = await overHttp(upstream);
    running.push(elsewhere);
    const app = new Hono();
    app.use(limit()).get('/', () => fetch(elsewhere.url));
    const response = await (await serve(app))('/');
    expect(await response.text()).toBe('from elsewhere');
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(response.headers.get('ratelimit-remaining')).toBe('99');
  });

  it('stand beside those that were set before, and their cookies', async () => {
    const app = new Hono();
    app.use(limit(), async (c, next) => {
      c.header('x-before', 'yes');
      await next();
      c.header('set-cookie', 'a=1', { append: true });
      c.header('set-cookie', 'b=2', { append: true });
    });
    app.get('/', (c) => c.redirect('http://elsewhere.test/'));
    const { headers } = await (await serve(app))('/');
    expect(headers.get('x-before')).toBe('yes');
    expect(headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(headers.get('ratelimit-remaining')).toBe('99');
  });

  it('stay when a middleware further out replaces the response', async () => {
    const app = new Hono();
    app.use(async (c, next) => {
      await next();
      c.res = new Response(`<${await c.res.text()}>`, { headers: { 'content-type': 'text/html' } });
    });
    app.use(limit()).get('/', (c) => c.text('ok'));
    const response = await (await serve(app))('/');
    expect(await response.text()).toBe('<ok>');
    expect(named(response.headers.get('ratelimit'))).toEqual(['p']);
  });

  it('tell of each limiter, further out and further in', async () => {
    const shared = createLimiter({ onWarning: () => {} });
    const app = new Hono();
    const inner = new Hono().use(limit('inner', 5, shared)).get('/', (c) => c.text('ok'));
    app.use(limit('outer', 100, shared)).route('/inner', inner);
    app.get('/', (c) => c.text('ok'));
    const get = await serve(app);
    const both = await get('/inner');
    expect(new Set(named(both.headers.get('ratelimit')))).toEqual(new Set(['inner', 'outer']));
    expect(both.headers.get('ratelimit-remaining')).toBe('4');
    expect(named((await get('/')).headers.get('ratelimit'))).toEqual(['outer']);
  });

  it('are on what a mounted application answers', async () => {
    const app = new Hono();
    app.use(limit());
    app.all(
      '/other/*',
      mount(({ url }) => new Response(new URL(url).pathname)),
    );
    const response = await (await serve(app))('/other/path');
    expect(await response.text()).toBe('/path');
    expect(response.headers.get('ratelimit-remaining')).toBe('99');
  });

  it('a mounted application has a limiter that knows its client', async () => {
    const inner = new Hono().use(limit('inner', 1)).get('/path', (c) => c.text('ok'));
    const app = new Hono();
    app.all('/other/*', mount(inner.fetch));
    const get = await serve(app);
    expect([(await get('/other/path')).status, (await get('/other/path')).status]).toEqual([200, 429]);
  });

  it('are on paths without a route, also where notFound() throws', async () => {
    const app = new Hono();
    app.use(limit());
    const get = await serve(app);
    expect((await get('/nothing')).headers.get('ratelimit-remaining')).toBe('99');
    app.notFound(() => {
      throw new HTTPException(404, { message: 'nothing here' });
    });
    const thrown = await get('/nothing');
    expect([thrown.status, await thrown.text()]).toEqual([404, 'nothing here']);
    expect(thrown.headers.get('ratelimit-remaining')).toBe('98');
  });

  it('are on what onError() answers, for handlers, later middlewares and applications within', async () => {
    const app = new Hono();
    const within = new Hono();
    const fail = () => {
      throw new Error('broken');
    };
    app.use(limit());
    app.get('/handler', fail);
    app.get('/middleware', fail, (c) => c.text('never'));
    within.use(limit('within')).get('/', fail);
    within.onError((error) => {
      throw error;
    });
    app.route('/within', within);
    app.onError((error) => new Response(error.message, { status: 502 }));
    const get = await serve(app);
    for (const path of ['/handler', '/middleware', '/within']) {
      const response = await get(path);
      expect([response.status, await response.text()]).toEqual([502, 'broken']);
      const names = named(response.headers.get('ratelimit'));
      expect(new Set(names)).toEqual(new Set(path === '/within' ? ['p', 'within'] : ['p']));
    }
  });

  it('go out before a stream has ended', async () => {
    const app = new Hono();
    let goOn = (): void => {};
    const gate = () => new Promise<void>((resolve) => (goOn = resolve));
    app.use(limit());
    app.get('/text', (c) =>
      streamText(c, async (out) => {
        await out.write('first ');
        await gate();
        await out.write('second');
      }),
    );
    app.get('/events', (c) =>
      streamSSE(c, async (out) => {
        await out.writeSSE({ data: 'first' });
        await gate();
        await out.writeSSE({ data: 'second' });
      }),
    );
    const get = await serve(app);
    for (const [path, content] of [
      ['/text', 'first second'],
      ['/events', 'data: first\n\ndata: second\n\n'],
    ] as const) {
      const response = await get(path);
      expect(response.headers.get('ratelimit-limit')).toBe('100');
      const reader = (response.body as ReadableStream<Uint8Array>).getReader();
      const decoder = new TextDecoder();
      let text = '';
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        text += decoder.decode(value);
        // The handler waits until this much has come.
        if (text.includes('first')) goOn();
      }
      expect(text).toBe(content);
    }
  });

  it('are kept off the answer to a WebSocket, and off a network error, which is no answer', async () => {
    // A response of this status can be made on edge runtimes only: `test/edge` shakes hands for real.
    const handshake = Object.create(new Response(null), { status: { value: 101 } }) as Response;
    for (const response of [handshake, Response.error()]) {
      const app = new Hono();
      app.use(limit()).get('/', () => response);
      const answered = await app.request('/');
      expect(answered).toBe(response);
    }
  });
});

describe('refundWhen on Hono', () => {
  /** What it is told of, and what is left of ten after each request. */
  async function told(setUp: (app: Hono, limiter: MiddlewareHandler) => unknown): Promise<[number[], unknown[]]> {
    const seen: number[] = [];
    const policy = definePolicy({
      name: 'p',
      limits: [{ limit: 10, window: '1m', per: 'ip' }],
      refundWhen: ({ status }: ResponseFacts) => (seen.push(status), status < 400),
    });
    const limiter = createLimiter({ onWarning: () => {} });
    const app = new Hono();
    setUp(app, rateLimit(policy, { limiter }));
    app.get('/count', rateLimit(policy, { limiter }), (c) => c.text('ok'));
    const get = await serve(app);
    const left: unknown[] = [];
    for (const path of ['/', '/', '/count']) left.push((await get(path)).headers.get('ratelimit-remaining'));
    return [seen, left];
  }

  it.each<[name: string, answer: (c: Context) => Response, status: number]>([
    ['a success', (c) => c.text('ok'), 200],
    ['an error status', (c) => c.text('no', 401), 401],
    [
      'an exception',
      () => {
        throw new HTTPException(403);
      },
      403,
    ],
    [
      'an error',
      () => {
        throw new Error('broken');
      },
      500,
    ],
  ])('hears of %s, once', async (_, answer, status) => {
    const [seen, left] = await told((app, limiter) =>
      app.get('/', limiter, answer).onError((error, c) => {
        if (error instanceof HTTPException) return error.getResponse();
        return c.text('broken', 500);
      }),
    );
    expect(seen).toEqual([status, status, 200]);
    expect(left[2]).toBe(status === 200 ? '9' : '7');
  });

  it('hears of what nobody answered: what was thrown was no Error, or by onError() itself', async () => {
    const [seen] = await told((app, limiter) =>
      app.get('/', limiter, () => {
        // oxlint-disable-next-line typescript/only-throw-error -- what Hono hands on
        throw 'a string';
      }),
    );
    expect(seen).toEqual([500, 500, 200]);
    const [again] = await told((app, limiter) =>
      app
        .get('/', limiter, () => {
          throw new Error('broken');
        })
        .onError((error) => {
          throw error;
        }),
    );
    expect(again).toEqual([500, 500, 200]);
  });

  it('hears of what notFound() throws', async () => {
    const [seen, left] = await told((app, limiter) =>
      app
        .use(async (c, next) => (c.req.path === '/' ? limiter(c, next) : next()))
        .notFound(() => {
          throw new HTTPException(410);
        }),
    );
    expect(seen).toEqual([410, 410, 200]);
    expect(left).toEqual(['9', '8', '7']);
  });
});
