import { fastify as fastify5, type FastifyInstance, type FastifyRequest } from 'fastify';
import { fastify as fastify4 } from 'fastify4';
import { describe, expect, it } from 'vitest';
import { createLimiter, definePolicy, rateLimit, read } from './index.ts';

const perIp = (name: string, limit = 1) => definePolicy({ name, limits: [{ limit, window: '1m', per: 'ip' }] });

describe.each([
  ['4', fastify4 as unknown as typeof fastify5],
  ['5', fastify5],
] as const)('rateLimit on Fastify %s', (version, fastify) => {
  async function statuses(app: FastifyInstance, urls: readonly string[]): Promise<number[]> {
    const all: number[] = [];
    for (const url of urls) all.push((await app.inject({ url })).statusCode);
    return all;
  }

  it('takes what Fastify itself takes with a plugin', async () => {
    await expect(
      fastify().register(rateLimit, { policy: read(), prefix: '/x', logLevel: 'warn' }),
    ).resolves.toBeDefined();
  });

  it('refuses a route whose policy has the name of another one, when it is declared', async () => {
    const app = fastify();
    await app.register(rateLimit, { limiter: createLimiter(), policy: read() });
    expect(() => app.get('/', { config: { rateLimit: read({ limit: 5 }) } }, () => 'ok')).toThrow(
      'Two policies are named "read"',
    );
    expect(() => app.get('/b', { config: { rateLimit: null as never } }, () => 'ok')).toThrow(
      'policy must be a policy',
    );
  });

  it('limits the scope that it is registered in, and what is declared in it before', async () => {
    const app = fastify();
    const limiter = createLimiter();
    app.get('/outside', () => 'ok');
    await app.register(async (scope) => {
      scope.get('/before', () => 'ok');
      await scope.register(rateLimit, { limiter, policy: perIp('scope') });
      scope.get('/after', () => 'ok');
    });
    expect(await statuses(app, ['/outside', '/outside', '/outside'])).toEqual([200, 200, 200]);
    expect(await statuses(app, ['/before', '/after', '/before'])).toEqual([200, 429, 429]);
  });

  it('charges once when it is registered twice', async () => {
    const app = fastify();
    const options = { limiter: createLimiter(), policy: perIp('twice', 2) };
    await app.register(rateLimit, options);
    await app.register(rateLimit, options);
    app.get('/', () => 'ok');
    expect(await statuses(app, ['/', '/', '/'])).toEqual([200, 200, 429]);
  });

  it('a chooser sees the path that was routed, whatever form the target has', async () => {
    const app = fastify();
    const seen: string[] = [];
    await app.register(rateLimit, {
      limiter: createLimiter(),
      policy: (ctx) => (seen.push(`${ctx.path} ${ctx.route}`), false),
    });
    app.get('/login', () => 'ok');
    await statuses(app, ['/login?x=1', 'http://e.test/login?x=1', '/nothing']);
    // It is asked again when the body is parsed, and before the handler.
    expect([...new Set(seen)]).toEqual([
      '/login /login',
      version === '4' ? '/nothing undefined' : '/nothing undefined',
    ]);
  });

  it('what is denied does not go on, also when somebody answered meanwhile', async () => {
    const app = fastify();
    let handled = 0;
    const policy = perIp('late');
    app.addHook('onRequest', (_request, reply, done) => {
      void reply.send('timed out');
      done();
    });
    await app.register(rateLimit, {
      limiter: createLimiter(),
      policy: () => new Promise((resolve) => void setTimeout(resolve, 5, policy)),
    });
    app.get('/', () => void handled++);
    await statuses(app, ['/', '/', '/']);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(handled).toBeLessThanOrEqual(1);
  });

  it('takes a policy that is written for the request of its route', async () => {
    type Search = FastifyRequest<{ Querystring: { n?: string } }>;
    const app = fastify();
    await app.register(rateLimit, { limiter: createLimiter() });
    const search = definePolicy<Search>({
      name: 'search',
      limits: [{ limit: 10, window: '1m', per: 'ip' }],
      cost: (req) => Number(req.query.n ?? 1),
    });
    app.get('/search', { config: { rateLimit: search } }, () => 'ok');
    expect(await statuses(app, ['/search?n=7', '/search?n=4', '/search?n=3'])).toEqual([200, 429, 200]);
  });
});
