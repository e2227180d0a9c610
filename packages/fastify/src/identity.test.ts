import { describeIdentity, overHttp } from '@tollgate/core/testing';
import { fastify as fastify5, type FastifyInstance, type FastifyServerOptions } from 'fastify';
import { fastify as fastify4 } from 'fastify4';
import { afterEach, describe, expect, it } from 'vitest';
import { createLimiter, rateLimit, type RateLimitOptions, read, type Warning } from './index.ts';

const ONLY_XFF = 'Fastify knows X-Forwarded-For only';

for (const [version, fastify] of [
  ['4', fastify4 as unknown as typeof fastify5],
  ['5', fastify5],
] as const) {
  describeIdentity({
    name: `fastify ${version}`,
    async create({ limiter, policy, trust }) {
      const app = fastify({ trustProxy: trust ?? false });
      await app.register(rateLimit, { limiter, policy });
      app.get('/', () => 'ok');
      await app.listen({ port: 0, host: '127.0.0.1' });
      return overHttp(app.server);
    },
    skip: {
      'Forwarded is read from the right, quotes and all': ONLY_XFF,
      'Forwarded that cannot be read is nobody': ONLY_XFF,
    },
  });

  describe(`the deployment of an application on Fastify ${version}`, () => {
    let app: FastifyInstance | undefined;
    afterEach(() => app?.close());

    /** What is said of five requests. */
    async function said(
      setUp: (app: FastifyInstance, options: RateLimitOptions) => Promise<unknown>,
      init: RequestInit = {},
      trustProxy: unknown = false,
    ): Promise<[code: string, times: number][]> {
      const warnings: Warning[] = [];
      const limiter = createLimiter({ onWarning: (warning) => void warnings.push(warning) });
      app = fastify({ trustProxy: trustProxy as FastifyServerOptions['trustProxy'] & {} });
      await setUp(app, { limiter, policy: read() });
      app.all('/', () => 'ok');
      await app.listen({ port: 0, host: '127.0.0.1' });
      const served = await overHttp(app.server);
      for (let i = 0; i < 5; i++) await (await served.fetch(new Request('http://app.test/', init))).text();
      expect(warnings.map(({ code }) => code)).toEqual([...limiter.warnings.keys()]);
      return [...limiter.warnings];
    }

    const fromClient = { headers: { 'x-forwarded-for': '203.0.113.7' } };
    const plain = async (server: FastifyInstance, options: RateLimitOptions): Promise<unknown> =>
      server.register(rateLimit, options);
    const scoped = async (server: FastifyInstance, options: RateLimitOptions): Promise<unknown> =>
      server.register(async (outer) => outer.register(async (inner) => inner.register(rateLimit, options)));
    const signIn = async (server: FastifyInstance): Promise<unknown> =>
      server.addHook('onRequest', (request, _reply, done) => {
        Object.assign(request, { user: { id: 7 } });
        done();
      });

    it.each<[setting: unknown, codes: readonly string[]]>([
      [true, ['trust-everything']],
      [false, ['forwarding-header-ignored']],
      ['10.0.0.0/8', ['forwarding-header-ignored']],
      ['loopback', []],
      [['127.0.0.1'], []],
      // Fastify 4 walks as many hops; a recent Fastify 5 trusts nobody, and its types know no number.
      [1, version === '4' ? [] : ['forwarding-header-ignored', 'hop-count-ignored']],
    ])('trustProxy %j', async (setting, codes) => {
      expect(await said(plain, fromClient, setting)).toEqual(codes.map((code) => [code, 5]));
    });

    it('development on loopback is no wrong deployment', async () => {
      expect(await said(plain)).toEqual([]);
    });

    it('neither is a proxy on the same machine as the browser', async () => {
      expect(await said(plain, { headers: { 'x-forwarded-for': '127.0.0.1' } }, 'loopback')).toEqual([]);
    });

    it('a limiter above the authentication decides again when there is a user', async () => {
      const above = async (server: FastifyInstance, options: RateLimitOptions): Promise<void> => {
        await plain(server, options);
        await signIn(server);
      };
      expect(await said(above)).toEqual([]);
    });

    it('a user that is only known to the handler comes too late', async () => {
      const handled = async (server: FastifyInstance, options: RateLimitOptions): Promise<void> => {
        await plain(server, options);
        server.addHook('onSend', (request, _reply, payload, done) => {
          Object.assign(request, { user: { id: 7 } });
          done(null, payload);
        });
      };
      expect(await said(handled)).toEqual([['user-after-decision', 5]]);
      await app?.close();
      expect(await said(handled, { method: 'POST' })).toEqual([]);
    });

    it('one below it does', async () => {
      const below = async (server: FastifyInstance, options: RateLimitOptions): Promise<void> => {
        await signIn(server);
        await plain(server, options);
      };
      expect(await said(below)).toEqual([]);
    });

    it('the setting is found from any scope', async () => {
      const inScope = async (server: FastifyInstance, options: RateLimitOptions): Promise<unknown> =>
        server.register(async (scope) => {
          await scoped(scope, options);
          await scope.register(rateLimit, options);
          scope.get('/scope', () => 'ok');
        });
      const warnings: string[] = [];
      const limiter = createLimiter({ onWarning: ({ code }) => void warnings.push(code) });
      app = fastify({ trustProxy: true });
      await inScope(app, { limiter, policy: read() });
      await app.inject('/scope');
      expect(warnings).toEqual(['trust-everything']);
    });
  });
}
