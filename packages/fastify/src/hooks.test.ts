import type { Decision } from '@tollgate/core';
import { fastify as fastify5, type FastifyInstance, type FastifyRequest } from 'fastify';
import { fastify as fastify4 } from 'fastify4';
import { request as httpRequest } from 'node:http';
import { afterEach, describe, expect, expectTypeOf, it } from 'vitest';
import {
  auth,
  createLimiter,
  definePolicy,
  expensive,
  rateLimit,
  type RateLimitOptions,
  read,
  type Warning,
} from './index.ts';

const perIp = (limit: number) => definePolicy({ name: 'ip', limits: [{ limit, window: '1m', per: 'ip' }] });

describe.each([
  ['4', fastify4 as unknown as typeof fastify5],
  ['5', fastify5],
] as const)('the hooks on Fastify %s', (_version, fastify) => {
  let app: FastifyInstance;
  afterEach(() => app?.close());

  /** Signs in who sends a name, refuses who sends `nobody`. */
  function authenticate(request: FastifyRequest): Promise<void> {
    const name = request.headers['x-name'];
    if (name === 'nobody') return Promise.reject(Object.assign(new Error('who?'), { statusCode: 401 }));
    if (name !== undefined) Object.assign(request, { user: { id: name } });
    return Promise.resolve();
  }

  async function start(
    policy: NonNullable<RateLimitOptions['policy']>,
    onDecision: (decision: Decision) => void = () => {},
  ): Promise<{ readonly warnings: readonly Warning[] }> {
    app = fastify();
    const warnings: Warning[] = [];
    const limiter = createLimiter({ onWarning: (warning) => void warnings.push(warning), onDecision });
    await app.register(rateLimit, { limiter, policy });
    return { warnings };
  }
  const get = (name?: string) => app.inject({ url: '/', headers: name === undefined ? {} : { 'x-name': name } });

  describe.each(['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const)('authentication in %s', (hook) => {
    it('a user that it names is limited as that user, and nobody else', async () => {
      const { warnings } = await start(read({ limit: 2 }));
      app.get('/', { [hook]: authenticate }, (request) => Promise.resolve(request.rateLimit?.identity.kind));
      const answers = [await get('ada'), await get('ada'), await get('ada'), await get('bob'), await get('bob')];
      expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 429, 200, 200]);
      expect(answers.map(({ headers }) => headers['ratelimit-remaining'])).toEqual(['1', '0', '0', '1', '0']);
      // The decision about the client has left nothing behind: one item, and no charge.
      for (const { headers } of answers) expect(headers['ratelimit-policy']).toBe('"read";q=2;w=60');
      expect(answers[0]?.body).toBe('user');
      expect([(await get()).statusCode, (await get()).statusCode, (await get()).statusCode]).toEqual([200, 200, 429]);
      expect(warnings).toEqual([]);
    });

    it('a limit per user counts', async () => {
      await start(definePolicy({ name: 'user', limits: [{ limit: 1, window: '1m', per: 'user' }] }));
      app.get('/', { [hook]: authenticate }, () => Promise.resolve('ok'));
      expect([(await get('ada')).statusCode, (await get('ada')).statusCode, (await get('bob')).statusCode]).toEqual([
        200, 429, 200,
      ]);
      expect((await get()).statusCode).toBe(200);
    });

    it('a request that it refuses is counted, and the refused one is limited before it', async () => {
      let asked = 0;
      await start(read({ limit: 2 }));
      const counted = (request: FastifyRequest): Promise<void> => {
        asked++;
        return authenticate(request);
      };
      app.get('/', { [hook]: counted }, () => Promise.resolve('ok'));
      const answers = [await get('nobody'), await get('nobody'), await get('nobody')];
      expect(answers.map(({ statusCode }) => statusCode)).toEqual([401, 401, 429]);
      expect(asked).toBe(2);
    });
  });

  it('of several policies only the requests of who is known by then count twice', async () => {
    const said: [string, boolean][] = [];
    await start([perIp(3), read({ limit: 9 })], ({ identity, allowed }) => void said.push([identity.kind, allowed]));
    app.get('/', { preHandler: authenticate }, () => Promise.resolve('ok'));
    const answers = [await get('ada'), await get('bob'), await get('ada'), await get('ada')];
    // The limit per address is charged once for each.
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 429]);
    expect(said.map(([kind]) => kind)).toEqual(['ip+ua', 'user', 'ip+ua', 'user', 'ip+ua', 'user', 'ip+ua']);
  });

  describe('a policy that asks for the body', () => {
    const login = auth<FastifyRequest>({
      username: ({ body }) => (body as { name?: unknown } | null)?.name,
    });
    const send = (body: unknown, type = 'application/json') =>
      app.inject({
        method: 'POST',
        url: '/login',
        headers: { 'content-type': type },
        payload: typeof body === 'string' ? body : JSON.stringify(body),
      });

    it('is decided when the body is parsed, before anything checks what is in it', async () => {
      await start(read());
      let checked = 0;
      const checkPassword = (): Promise<void> => {
        checked++;
        return Promise.resolve();
      };
      app.post('/login', { config: { rateLimit: login }, preValidation: checkPassword }, () => Promise.resolve('ok'));
      for (let i = 0; i < 8; i++) await send({ name: 'ada' });
      expect(checked).toBe(5);
    });

    it('costs what the body says', async () => {
      await start(read());
      const search = expensive<FastifyRequest>({ cost: ({ body }) => (body as { pages: number }).pages });
      app.post('/login', { config: { rateLimit: search } }, (request) =>
        Promise.resolve({ left: request.rateLimit?.quota?.remaining }),
      );
      expect((await send({ pages: 25 })).json()).toEqual({ left: 35 });
      expect((await send({ pages: 36 })).statusCode).toBe(429);
      expect((await send({ pages: 35 })).json()).toEqual({ left: 0 });
    });

    it('counts a body that does not parse by what needs no body, without a word', async () => {
      const { warnings } = await start(read());
      app.post('/login', { config: { rateLimit: login } }, () => Promise.resolve('ok'));
      await app.listen({ port: 0, host: '127.0.0.1' });
      const { port } = app.server.address() as { port: number };
      const init = { method: 'POST', headers: { 'content-type': 'application/json' } };
      const statuses: number[] = [];
      for (let i = 0; i < 22; i++) {
        statuses.push((await fetch(`http://127.0.0.1:${port}/login`, { ...init, body: '{"name":' })).status);
      }
      expect(statuses).toEqual([...Array.from({ length: 20 }, () => 400), 429, 429]);
      expect(warnings).toEqual([]);
    });

    it('denies without reading the body where a limit that needs none does', async () => {
      await start(read());
      app.post('/login', { config: { rateLimit: login } }, () => Promise.resolve('ok'));
      await app.listen({ port: 0, host: '127.0.0.1' });
      const { port } = app.server.address() as { port: number };
      for (let i = 0; i < 20; i++) {
        await fetch(`http://127.0.0.1:${port}/login`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ name: `u${i}` }),
        });
      }
      // A body is announced and never sent.
      const status = await new Promise((resolve, reject) => {
        const headers = { 'content-type': 'application/json', 'content-length': 1_000_000 };
        const slow = httpRequest({ port, host: '127.0.0.1', method: 'POST', path: '/login', headers });
        slow.on('error', reject);
        slow.on('response', (response) => {
          resolve(response.statusCode);
          slow.destroy();
        });
        slow.flushHeaders();
      });
      expect(status).toBe(429);
    });

    it('is not asked about a route of another policy', async () => {
      await start(read({ limit: 3 }));
      app.post('/login', { config: { rateLimit: login } }, () => Promise.resolve('ok'));
      app.get('/', () => Promise.resolve('ok'));
      for (let i = 0; i < 3; i++) await send({ name: 'ada' });
      expect((await get()).headers['ratelimit-remaining']).toBe('2');
    });
  });

  it('has the types of its request where a preset stands in a route', async () => {
    await start(read());
    const own = (request: FastifyRequest<{ Body: { pages: number } }>) => request.body.pages;
    app.post(
      '/',
      {
        config: {
          rateLimit: [
            expensive({ cost: (request) => (expectTypeOf(request).toEqualTypeOf<FastifyRequest>(), 1) }),
            read({ name: 'skipping', skip: (request) => request.ip === '192.0.2.1' }),
            expensive({ name: 'own', cost: own }),
          ],
        },
      },
      () => Promise.resolve('ok'),
    );
    app.get('/', { config: { rateLimit: (ctx) => (ctx.method === 'GET' ? read() : false) } }, () =>
      Promise.resolve('ok'),
    );
    // @ts-expect-error -- no policy, no list and no function
    expect(() => app.put('/', { config: { rateLimit: 5 } }, () => Promise.resolve('ok'))).toThrow('must be a policy');
  });

  describe('what is only known later', () => {
    const post = (body: object, headers: Record<string, string> = {}) =>
      app.inject({ method: 'POST', url: '/', headers, payload: body });
    const bodyOf = ({ body }: FastifyRequest) => (body ?? {}) as Record<string, unknown>;
    const statuses = async (times: number, send: () => Promise<{ statusCode: number }>) => {
      const all: number[] = [];
      for (let i = 0; i < times; i++) all.push((await send()).statusCode);
      return all;
    };

    it('a skip may read the body: what it names is let off, and nothing else', async () => {
      await start(read());
      const name = (request: FastifyRequest) => bodyOf(request)['name'];
      const login = auth<FastifyRequest>({ username: name, skip: (request) => bodyOf(request)['op'] !== 'login' });
      app.post('/', { config: { rateLimit: login } }, () => Promise.resolve('ok'));
      expect(await statuses(7, () => post({ op: 'login', name: 'ada' }))).toEqual([200, 200, 200, 200, 200, 429, 429]);
      expect(await statuses(25, () => post({ op: 'logout', name: 'ada' }))).toEqual(
        Array.from({ length: 25 }, () => 200),
      );
    });

    it('also of a policy that needs no body: its charge is given back', async () => {
      await start(read({ limit: 2, skip: (request) => bodyOf(request)['free'] === true }));
      app.post('/', (request) => Promise.resolve({ counted: request.rateLimit !== undefined }));
      const free = await post({ free: true });
      expect([free.json(), free.headers['ratelimit-policy'], free.headers['ratelimit-limit']]).toEqual([
        { counted: false },
        undefined,
        undefined,
      ]);
      expect(await statuses(5, () => post({ free: true }))).toEqual([200, 200, 200, 200, 200]);
      expect(await statuses(3, () => post({ free: false }))).toEqual([200, 200, 429]);
    });

    it('a skip may read the user', async () => {
      await start(read({ limit: 2, skip: (request) => (request as { user?: { id: string } }).user?.id === 'staff' }));
      app.post('/', { preHandler: authenticate }, () => Promise.resolve('ok'));
      expect(await statuses(5, () => post({}, { 'x-name': 'staff' }))).toEqual([200, 200, 200, 200, 200]);
      expect(await statuses(3, () => post({}, { 'x-name': 'ada' }))).toEqual([200, 200, 429]);
    });

    it('a chooser may read the body and the user', async () => {
      const strict = read({ name: 'strict', limit: 2 });
      const user = read({ name: 'user', limit: 3 });
      await start((ctx) => {
        if (ctx.user !== undefined) return user;
        return bodyOf(ctx.raw)['op'] === 'login' ? strict : false;
      });
      app.post('/', { preHandler: authenticate }, (request) =>
        Promise.resolve(request.rateLimit?.quota?.name ?? 'none'),
      );
      expect(await statuses(3, () => post({ op: 'login' }))).toEqual([200, 200, 429]);
      expect((await post({ op: 'look' })).body).toBe('none');
      expect(await statuses(4, () => post({ op: 'look' }, { 'x-name': 'ada' }))).toEqual([200, 200, 200, 429]);
    });

    it('a user who was read from an unverified token gives way to the one that is verified', async () => {
      await start(perIp(100));
      let forged = 0;
      app.addHook('onRequest', (request, _reply, done) => {
        Object.assign(request, { user: { id: `forged-${forged++}` } });
        done();
      });
      await app.register(rateLimit, { limiter: createLimiter(), policy: read({ name: 'after', limit: 3 }) });
      app.post('/', { preHandler: authenticate }, () => Promise.resolve('ok'));
      expect(await statuses(5, () => post({}, { 'x-name': 'ada' }))).toEqual([200, 200, 200, 429, 429]);
    });

    it('a request that is aborted meanwhile, and is handled all the same, is charged in full', async () => {
      let handled = 0;
      await start(read());
      app.addHook('onRequest', () => new Promise((resolve) => void setTimeout(resolve, 30)));
      const search = expensive<FastifyRequest>({ limit: 5, burst: 5, cost: () => 1 });
      app.get('/', { config: { rateLimit: search } }, () => Promise.resolve(handled++));
      await app.listen({ port: 0, host: '127.0.0.1' });
      const { port } = app.server.address() as { port: number };
      for (let i = 0; i < 12; i++) {
        const client = httpRequest({ port, host: '127.0.0.1', path: '/' });
        client.on('error', () => {});
        client.end();
        setTimeout(() => client.destroy(), 5);
      }
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(handled).toBe(5);
    });

    it('and is charged once by what was looked at early', async () => {
      let handled = 0;
      await start(perIp(100));
      app.addHook('onRequest', () => new Promise((resolve) => void setTimeout(resolve, 30)));
      const limits = [
        { limit: 6, window: '1m', per: 'ip' },
        { limit: 50, window: '1m', per: 'ip', name: 'units', cost: () => 1 },
      ] as const;
      const policy = definePolicy({ name: 'both', limits });
      app.get('/', { config: { rateLimit: policy } }, () => Promise.resolve(handled++));
      await app.listen({ port: 0, host: '127.0.0.1' });
      const { port } = app.server.address() as { port: number };
      for (let i = 0; i < 5; i++) {
        const client = httpRequest({ port, host: '127.0.0.1', path: '/' });
        client.on('error', () => {});
        client.end();
        setTimeout(() => client.destroy(), 5);
        await new Promise((resolve) => setTimeout(resolve, 60));
      }
      expect(handled).toBe(5);
      expect((await get()).headers['ratelimit']).toMatch(/^"both-ip-1m";r=0;/);
    });

    it('what is charged in the end is given back where the policy says so', async () => {
      await start(
        definePolicy({
          name: 'failures',
          limits: [
            { limit: 3, window: '1m', per: 'ip' },
            { limit: 9, window: '1m', per: 'ip', name: 'units', cost: () => 1 },
          ],
          refundWhen: ({ status }) => status === 401,
        }),
      );
      app.get('/', { onRequest: authenticate }, () => Promise.resolve('ok'));
      await app.listen({ port: 0, host: '127.0.0.1' });
      const { port } = app.server.address() as { port: number };
      const all: number[] = [];
      for (let i = 0; i < 6; i++) {
        all.push((await fetch(`http://127.0.0.1:${port}/`, { headers: { 'x-name': 'nobody' } })).status);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      expect(all).toEqual([401, 401, 401, 401, 401, 401]);
    });

    it('a body that is broken off is counted, however long a skip took', async () => {
      const decisions: Decision[] = [];
      await start(
        definePolicy({
          name: 'slow',
          limits: [
            { limit: 5, window: '1m', per: 'ip' },
            { limit: 5, window: '1m', per: 'ip', name: 'own', cost: () => 1 },
          ],
          skip: () => new Promise((resolve) => void setTimeout(resolve, 20, false)),
        }),
        (decision) => void decisions.push(decision),
      );
      app.post('/', () => Promise.resolve('ok'));
      await app.listen({ port: 0, host: '127.0.0.1' });
      const { port } = app.server.address() as { port: number };
      const headers = { 'content-type': 'application/json', 'content-length': 100 };
      for (let i = 0; i < 4; i++) {
        const client = httpRequest({ port, host: '127.0.0.1', method: 'POST', path: '/', headers });
        client.on('error', () => {});
        client.write('{');
        setTimeout(() => client.destroy(), 5);
      }
      await new Promise((resolve) => setTimeout(resolve, 150));
      expect(decisions).toHaveLength(4);
    });

    it('several registrations tell each its own, whoever decides again', async () => {
      app = fastify();
      const limiter = createLimiter();
      await app.register(rateLimit, { limiter, policy: read({ name: 'a', limit: 10 }) });
      await app.register(rateLimit, { limiter, policy: perIp(20) });
      await app.register(rateLimit, { limiter, policy: read({ name: 'c', limit: 30 }) });
      app.get('/', { preHandler: authenticate }, () => Promise.resolve('ok'));
      for (const left of [9, 8, 7]) {
        const { headers } = await get('ada');
        const told = [...String(headers['ratelimit']).matchAll(/"\w+";r=\d+/g)].map(([member]) => member).toSorted();
        expect(told).toEqual([`"a";r=${left}`, `"c";r=${left + 20}`, `"ip";r=${left + 10}`]);
        expect(headers['ratelimit-remaining']).toBe(String(left));
      }
    });
  });

  it('limits scopes that were made before it, and their routes', async () => {
    app = fastify();
    await app.register(async (scope) => {
      scope.get('/early', () => Promise.resolve('ok'));
      await scope.register(async (inner) => void inner.get('/inner', () => Promise.resolve('ok')));
    });
    app.get('/same', () => Promise.resolve('ok'));
    await app.register(rateLimit, { limiter: createLimiter(), policy: perIp(3) });
    app.get('/late', () => Promise.resolve('ok'));
    const statuses: number[] = [];
    for (const url of ['/early', '/inner', '/same', '/late', '/early', '/inner'])
      statuses.push((await app.inject({ url })).statusCode);
    expect(statuses).toEqual([200, 200, 200, 429, 429, 429]);
  });

  it('registrations with policies of their own are both charged', async () => {
    app = fastify();
    const limiter = createLimiter();
    await app.register(rateLimit, { limiter, policy: perIp(4) });
    await app.register(async (scope) => {
      await scope.register(rateLimit, { limiter, policy: read({ limit: 2 }) });
      scope.get('/scoped', () => Promise.resolve('ok'));
    });
    app.get('/', () => Promise.resolve('ok'));
    const scoped = await app.inject({ url: '/scoped' });
    expect(scoped.headers['ratelimit-policy']).toBe('"ip";q=4;w=60, "read";q=2;w=60');
    const statuses: number[] = [];
    for (const url of ['/scoped', '/scoped', '/', '/']) statuses.push((await app.inject({ url })).statusCode);
    expect(statuses).toEqual([200, 429, 200, 429]);
  });

  it('tells how routes are limited', async () => {
    const chosen = (): false => false;
    app = fastify({ exposeHeadRoutes: false });
    await app.register(rateLimit, { limiter: createLimiter(), policy: read() });
    app.get('/', () => Promise.resolve('ok'));
    app.get('/health', { config: { rateLimit: false } }, () => Promise.resolve('ok'));
    app.route({
      method: ['PUT', 'POST'],
      url: '/a',
      config: { rateLimit: perIp(1) },
      handler: () => Promise.resolve(),
    });
    await app.register(
      async (scope) => void scope.get('/b', { config: { rateLimit: chosen } }, () => Promise.resolve('ok')),
      { prefix: '/v1' },
    );
    expect(app.rateLimitCoverage()).toEqual([
      { method: 'GET', url: '/', policies: ['read'], skipped: false },
      { method: 'GET', url: '/health', policies: [], skipped: true },
      { method: 'PUT,POST', url: '/a', policies: ['ip'], skipped: false },
      { method: 'GET', url: '/v1/b', policies: 'chosen', skipped: false },
    ]);
  });

  it('hands what a chooser of policies fails with to the error handler', async () => {
    app = fastify();
    app.setErrorHandler((error, _request, reply) => reply.code(500).send({ said: (error as Error).message }));
    const policies = [
      () => {
        throw new Error('at once');
      },
      () => Promise.reject(new Error('later')),
    ];
    const limiter = createLimiter();
    await app.register(rateLimit, { limiter, policy: (ctx) => policies[Number(ctx.header('x-n'))]?.() ?? false });
    app.get('/', () => Promise.resolve('ok'));
    const said = await Promise.all(['0', '1'].map((n) => app.inject({ url: '/', headers: { 'x-n': n } })));
    expect(said.map((answer) => answer.json<unknown>())).toEqual([{ said: 'at once' }, { said: 'later' }]);
  });
});
