import { overHttp, type RunningApp } from '@tollgate/core/testing';
import express5, { type ErrorRequestHandler, type Express, type Request, type RequestHandler } from 'express';
import express4 from 'express4';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createLimiter, definePolicy, type Policy, rateLimit, type ResponseFacts } from './index.ts';

const running: RunningApp[] = [];
afterEach(async () => {
  for (const app of running.splice(0)) await app.close();
});

function policy(limit = 100): Policy<Request> {
  return definePolicy<Request>({ name: 'p', limits: [{ limit, window: '1m', per: 'ip' }] });
}
const quiet = () => createLimiter({ onWarning: () => {} });
/** fetch() would forbid caches to answer, and a 304 is such an answer. */
const conditional = (etag: string) => ({ 'if-none-match': etag, 'cache-control': 'max-age=0' });
/** Decides as a store over the network does: later. */
const late = (of: Policy<Request>) => async (): Promise<Policy<Request>> => {
  await new Promise((resolve) => setImmediate(resolve));
  return of;
};

describe.each([
  ['4', express4 as unknown as typeof express5],
  ['5', express5],
] as const)('responses of Express %s', (_, express) => {
  async function serve(setUp: (app: Express) => unknown): Promise<RunningApp> {
    const app = express();
    app.set('env', 'test');
    setUp(app);
    const served = await overHttp(createServer(app));
    running.push(served);
    return served;
  }
  const ask = (app: RunningApp, path = '/', init: RequestInit = {}): Promise<Response> =>
    app.fetch(new Request(`http://app.test${path}`, { redirect: 'manual', ...init }));

  it.each<[name: string, answer: RequestHandler, status: number, init?: RequestInit]>([
    ['JSON', (_req, res) => void res.json({ ok: true }), 200],
    ['a redirect', (_req, res) => res.redirect('/elsewhere'), 302],
    ['a file', (_req, res) => res.sendFile(import.meta.filename), 200],
    ['not modified', (_req, res) => void res.set('etag', '"1"').send('ok'), 304, { headers: conditional('"1"') }],
    ['a part of a file', (_req, res) => res.sendFile(import.meta.filename), 206, { headers: { range: 'bytes=0-4' } }],
    ['the headers of HEAD', (_req, res) => void res.send('ok'), 200, { method: 'HEAD' }],
    ['an early writeHead', (_req, res) => void res.writeHead(202, { 'x-own': '1' }).end(), 202],
    ['what next() is told', (_req, _res, next) => next(Object.assign(new Error('no'), { status: 418 })), 418],
    [
      'an error',
      () => {
        throw new Error('broken');
      },
      500,
    ],
    ['a file that is not there', (_req, res) => res.sendFile('/none/such'), 404],
    ['a path that nobody serves', (_req, _res, next) => next(), 404],
  ])('%s: has the headers, once', async (_name, answer, status, init) => {
    for (const spec of [policy(), late(policy())]) {
      const app = await serve((on) => on.use(rateLimit(spec, { limiter: quiet() })).get('/', answer));
      const response = await ask(app, '/', init);
      expect(response.status).toBe(status);
      expect(response.headers.get('ratelimit-policy')).toBe('"p";q=100;w=60');
      expect(response.headers.get('ratelimit-remaining')).toBe('99');
    }
  });

  it('answers a denied HEAD without a body, and a conditional GET with no 304', async () => {
    const app = await serve((on) => on.use(rateLimit(policy(1), { limiter: quiet() }), (_req, res) => void res.end()));
    await ask(app);
    const head = await ask(app, '/', { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([429, '']);
    const get = await ask(app, '/', { headers: conditional('*') });
    expect([get.status, get.headers.get('etag')]).toEqual([429, null]);
  });

  it('hands each error to the error handler, once', async () => {
    const errors: string[] = [];
    const count: ErrorRequestHandler = (error: Error, _req, res, _next) => {
      errors.push(error.message);
      res.status(503).end();
    };
    const now = rateLimit(
      () => {
        throw new Error('now');
      },
      { limiter: quiet() },
    );
    const later = rateLimit(() => Promise.reject(new Error('later')), { limiter: quiet() });
    const fail: RequestHandler = () => {
      throw new Error('handler');
    };
    const app = await serve((on) =>
      on
        .get('/now', now)
        .get('/later', later)
        .get('/handler', rateLimit(policy(), { limiter: quiet() }), fail)
        .get('/late', rateLimit(late(policy()), { limiter: quiet() }), fail)
        .use(count),
    );
    for (const path of ['/now', '/later', '/handler', '/late']) expect((await ask(app, path)).status).toBe(503);
    expect(errors).toEqual(['now', 'later', 'handler', 'handler']);
  });

  it('does not fail a request when a resolver does', async () => {
    const failing = definePolicy<Request>({
      name: 'p',
      limits: [{ limit: 5, window: '1m', per: 'ip' }],
      cost: () => Promise.reject(new Error('no')),
      skip: () => {
        throw new Error('no');
      },
    });
    const app = await serve((on) =>
      on.use(rateLimit(failing, { limiter: quiet() }), (_req, res) => void res.end('ok')),
    );
    expect(await (await ask(app)).text()).toBe('ok');
  });

  it('leaves alone what somebody answered meanwhile', async () => {
    let handled = 0;
    const timeOut: RequestHandler = (_req, res, next) => {
      next();
      res.status(504).end('timed out');
    };
    const app = await serve((on) =>
      on.use(timeOut, rateLimit(late(policy(1)), { limiter: quiet() }), () => void handled++),
    );
    for (let i = 0; i < 3; i++) {
      const response = await ask(app);
      expect([response.status, response.headers.get('ratelimit')]).toEqual([504, null]);
    }
    // Decided while the third was answered, or just after.
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(handled).toBe(1);
  });

  it.each([
    ['at once', (of: Policy<Request>) => of],
    ['later', late],
  ] as const)('admits exactly the limit of 50 requests in one write, decided %s', async (_name, decide) => {
    const app = await serve((on) =>
      on.use(rateLimit(decide(policy(5)), { limiter: quiet() }), (_req, res) => void res.end('ok')),
    );
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
    const one = 'GET / HTTP/1.1\r\nhost: app.test\r\n';
    socket.write(`${one}\r\n`.repeat(49) + `${one}connection: close\r\n\r\n`);
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    await once(socket, 'close');
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    expect(statuses).toEqual([...Array.from({ length: 5 }, () => '200'), ...Array.from({ length: 45 }, () => '429')]);
    const left = [...text.matchAll(/^ratelimit-remaining: (\d+)/gim)].map(([, n]) => Number(n));
    expect(left.slice(0, 6)).toEqual([4, 3, 2, 1, 0, 0]);
  });

  it('counts a request whose client went away, and gives nothing back for it', async () => {
    const facts: [status: number, aborted: boolean][] = [];
    const refunding = definePolicy<Request>({
      name: 'p',
      limits: [{ limit: 2, window: '1m', per: 'ip' }],
      refundWhen: ({ status, aborted }: ResponseFacts) => (facts.push([status, aborted]), true),
    });
    let came = (): void => {};
    let closed: Promise<unknown> = Promise.resolve();
    const app = await serve((on) => {
      on.use(rateLimit(refunding, { limiter: quiet() }));
      on.get('/slow', (_req, res) => {
        closed = once(res, 'close');
        came();
      });
      on.get('/', (_req, res) => void res.end('ok'));
    });
    for (let i = 0; i < 2; i++) {
      const arrived = new Promise<void>((resolve) => (came = resolve));
      const leaving = request(`${app.url}/slow`)
        .on('error', () => {})
        .end();
      await arrived;
      leaving.destroy();
      await closed;
    }
    expect((await ask(app)).status).toBe(429);
    expect(facts).toEqual([]);
  });
});
