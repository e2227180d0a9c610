// oxlint-disable oxc/no-async-endpoint-handlers -- Fastify awaits its handlers
import { type AppSpec, describeAdapter, overHttp } from '@tollgate/core/testing';
import { fastify as fastify5, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { fastify as fastify4 } from 'fastify4';
import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { rateLimit } from './index.ts';

for (const [version, fastify] of [
  ['4', fastify4 as unknown as typeof fastify5],
  ['5', fastify5],
] as const) {
  describeAdapter({
    name: `fastify ${version}`,
    // A plugin with a registration of its own is in the scope of the outer one as well.
    composition: { route: 'replaces', scope: 'adds' },
    async create(spec) {
      const { limiter, policy, search, users, chosen, login, onRead, onError } = spec;
      const options = { trustProxy: 'loopback', bodyLimit: 100_000 };
      const app = (spec.http2 ? fastify({ ...options, http2: true }) : fastify(options)) as FastifyInstance;
      app.addHook('onError', async (_request, _reply, error) => onError(error));
      app.addHook('onRequest', identify);
      await app.register(rateLimit, { limiter, policy });
      app.get('/read', async (request) => {
        onRead();
        return left(request);
      });
      app.post('/search', { config: { rateLimit: search } }, ok);
      app.get('/twice', { config: { rateLimit: [policy, policy] } }, ok);
      app.get('/health', { config: { rateLimit: false } }, ok);
      app.get<{ Params: { id: string } }>(
        '/users/:id',
        { config: { rateLimit: users } },
        async ({ params: { id } }) => ({
          id,
        }),
      );
      app.get('/chosen', { config: { rateLimit: chosen } }, ok);
      app.register(nested(spec), { prefix: '/nested' });
      app.post('/echo', async ({ body }) => body);
      const byName = login<FastifyRequest>(({ body }) => (body as { name?: unknown } | undefined)?.name);
      app.post<{ Body: { secret?: string } }>('/login', { config: { rateLimit: byName } }, async ({ body }, reply) =>
        reply.code(body.secret === 'right' ? 200 : 401).send({}),
      );
      app.get('/private', { onRequest: authenticate }, async (request) => ({ user: userOf(request) }));
      addAnswers(app);
      addPieces(app, spec);
      await app.listen({ port: 0, host: '127.0.0.1' });
      return overHttp(app.server, () => app.close());
    },
  });
}

const ok = async (): Promise<object> => ({ ok: true });

const left = (request: FastifyRequest): object => ({ remaining: request.rateLimit?.quota?.remaining });

const userOf = (request: FastifyRequest): unknown => (request as { user?: unknown }).user;

async function identify(request: FastifyRequest): Promise<void> {
  Object.assign(request, { user: request.headers['x-user'] });
}

async function authenticate(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  return userOf(request) === undefined ? reply.code(401).send({}) : undefined;
}

function nested({ limiter, nested: policy, own }: AppSpec) {
  return async (scope: FastifyInstance): Promise<void> => {
    await scope.register(rateLimit, { limiter, policy });
    scope.get('/read', async (request) => left(request));
    scope.get('/own', { config: { rateLimit: own } }, async (request) => left(request));
  };
}

function addAnswers(app: FastifyInstance): void {
  app.get('/teapot', async (_request, reply) =>
    reply.code(418).header('cache-control', 'max-age=60').send({ tea: true }),
  );
  app.get('/redirect', async (_request, reply) => reply.redirect('/read'));
  app.get('/tagged', async (request, reply) => {
    reply.header('etag', '"v1"');
    return request.headers['if-none-match'] === '"v1"' ? reply.code(304).send() : { ok: true };
  });
  app.get('/throw', () => {
    throw new Error('boom');
  });
  app.get('/reject', () => Promise.reject(new Error('boom')));
}

function addPieces(app: FastifyInstance, { slow }: AppSpec): void {
  app.get('/slow', async () => {
    await slow();
    return { ok: true };
  });
  app.get('/stream', (_request, reply) => reply.send(Readable.from(['one', 'two', 'three'])));
  app.get('/early', (_request, reply) => {
    const parts = new PassThrough();
    parts.write('one');
    void slow().then(() => parts.end('two'));
    return reply.send(parts);
  });
  app.get('/broken', (_request, reply) => {
    const parts = new PassThrough();
    parts.write('one');
    void setTimeout(5).then(() => parts.destroy(new Error('broken')));
    return reply.send(parts);
  });
  app.get('/late', async (_request, reply) => {
    // Over by then: when a handler fails behind a stream that is not, Fastify itself writes headers twice.
    const sent = once(reply.raw, 'finish');
    void reply.send(Readable.from(['one']));
    await sent;
    throw new Error('boom');
  });
}
