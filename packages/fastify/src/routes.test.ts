import { describeRoutes, overHttp } from '@tollgate/core/testing';
import { fastify as fastify5, type FastifyInstance, type FastifyRequest } from 'fastify';
import { fastify as fastify4 } from 'fastify4';
import { expectTypeOf, it } from 'vitest';
import { auth, rateLimit, type RateLimitOptions, read, routes } from './index.ts';

const LENIENT = { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, caseSensitive: false };
const WITH_SEMICOLONS = { ...LENIENT, useSemicolonDelimiter: true };
const old = fastify4 as unknown as typeof fastify5;

const SERVERS: Readonly<Record<string, () => FastifyInstance>> = {
  'fastify 4': () => old(),
  'fastify 4, lenient': () => old({ ...LENIENT }),
  'fastify 5': () => fastify5(),
  'fastify 5, lenient': () => fastify5({ routerOptions: { ...LENIENT } }),
  'fastify 5, with semicolons': () => fastify5({ routerOptions: { ...WITH_SEMICOLONS } }),
};

for (const [name, createServer] of Object.entries(SERVERS)) {
  for (const prefix of ['', '/api']) {
    describeRoutes({
      name: `${name}${prefix && ` below ${prefix}`}`,
      prefix,
      async create({ limiter, table }) {
        const app = createServer();
        await app.register(rateLimit, { limiter, policy: table });
        await app.register(addRoutes, { prefix });
        await app.listen({ port: 0, host: '127.0.0.1' });
        return overHttp(app.server);
      },
    });
  }
}

async function addRoutes(app: FastifyInstance): Promise<void> {
  app.route({
    method: ['GET', 'POST'],
    url: '/login',
    handler: (_, reply) => reply.header('x-handler', 'login').send(),
  });
  app.get('/health', (_, reply) => reply.header('x-handler', 'health').send());
  app.get('/:page', (_, reply) => reply.header('x-handler', 'page').send());
  app.get<{ Params: { id: string } }>('/users/:id', ({ params }, reply) =>
    reply.header('x-handler', `user ${encodeURIComponent(params.id)}`).send(),
  );
  app.get<{ Params: { '*': string } }>('/static/*', ({ params }, reply) =>
    reply.header('x-handler', `static ${encodeURIComponent(params['*'])}`).send(),
  );
}

it("a table is of Fastify's requests", () => {
  const options: RateLimitOptions = {
    policy: routes({
      'POST /login': auth({ username: (req) => (expectTypeOf(req).toEqualTypeOf<FastifyRequest>(), req.body) }),
      '/users/:id': [read(), read({ name: 'users', skip: (req) => req.is404 })],
      '/health': false,
    }),
  };
  expectTypeOf(options).not.toBeAny();
});
