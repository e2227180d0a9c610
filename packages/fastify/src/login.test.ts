import { describeLogin, overHttp } from '@tollgate/core/testing';
import { fastify as fastify5, type FastifyRequest } from 'fastify';
import { fastify as fastify4 } from 'fastify4';
import { rateLimit } from './index.ts';

for (const [version, fastify] of [
  ['4', fastify4 as unknown as typeof fastify5],
  ['5', fastify5],
] as const) {
  describeLogin({
    name: `fastify ${version}`,
    async create({ limiter, policies, answer }) {
      const app = fastify({ trustProxy: 'loopback' });
      await app.register(rateLimit, { limiter });
      const by = policies<FastifyRequest>((request) => (request.body as { name?: unknown } | null)?.name);
      for (const step of ['login', 'code'] as const) {
        app.post(`/${step}`, { config: { rateLimit: by[step] } }, (request, reply) => {
          const { status, body } = answer(step, request.body);
          return reply.code(status).send(body);
        });
      }
      await app.listen({ port: 0, host: '127.0.0.1' });
      return overHttp(app.server);
    },
    ...(version === '4' && { skipLarge: 'Fastify 5 is asked as often' }),
  });
}
