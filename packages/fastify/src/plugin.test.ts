import { type AppSpec, describeAdapter, overHttp } from '@tollgate/core/testing';
import { fastify as fastify5 } from 'fastify';
import { fastify as fastify4 } from 'fastify4';
import { Readable } from 'node:stream';
import { rateLimit } from './index.ts';

for (const [version, fastify] of [
  ['4', fastify4 as unknown as typeof fastify5],
  ['5', fastify5],
] as const) {
  describeAdapter({
    name: `fastify ${version}`,
    async create({ limiter, policy, search, onRead }: AppSpec) {
      const app = fastify();
      await app.register(rateLimit, { limiter, policy });
      app.get('/read', (request) => {
        onRead();
        return Promise.resolve({ remaining: request.rateLimit?.quota?.remaining });
      });
      app.post('/search', { config: { rateLimit: search } }, () => Promise.resolve({ ok: true }));
      app.get('/twice', { config: { rateLimit: [policy, policy] } }, () => Promise.resolve({ ok: true }));
      app.get('/health', { config: { rateLimit: false } }, () => Promise.resolve({ ok: true }));
      app.get('/throw', () => {
        throw new Error('boom');
      });
      app.get('/stream', (_request, reply) => reply.send(Readable.from(['one', 'two', 'three'])));
      await app.listen({ port: 0, host: '127.0.0.1' });
      return overHttp(app.server);
    },
  });
}
