import { describeIdentity, overHttp, type RunningApp } from '@tollgate/core/testing';
import express5 from 'express';
import express4 from 'express4';
import { createServer } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { createLimiter, rateLimit, read, type Warning } from './index.ts';

const ONLY_XFF = 'Express knows X-Forwarded-For only';

for (const [version, express] of [
  ['4', express4 as unknown as typeof express5],
  ['5', express5],
] as const) {
  describeIdentity({
    name: `express ${version}`,
    create({ limiter, policy, trust }) {
      const app = express();
      app.set('trust proxy', trust ?? false);
      app.get('/', rateLimit(policy, { limiter }), (_req, res) => void res.end());
      return overHttp(createServer(app));
    },
    skip: {
      'Forwarded is read from the right, quotes and all': ONLY_XFF,
      'Forwarded that cannot be read is nobody': ONLY_XFF,
    },
  });

  describe(`the deployment of an application on Express ${version}`, () => {
    let served: RunningApp | undefined;
    afterEach(() => served?.close());

    /** What is said of five requests. */
    async function said(
      setUp: (app: express5.Express, limit: express5.RequestHandler) => void,
      init: RequestInit = {},
    ): Promise<[code: string, times: number][]> {
      const warnings: Warning[] = [];
      const limiter = createLimiter({ onWarning: (warning) => void warnings.push(warning) });
      const app = express();
      setUp(app, rateLimit(read(), { limiter }));
      app.use((_req, res) => void res.end('ok'));
      served = await overHttp(createServer(app));
      for (let i = 0; i < 5; i++) await (await served.fetch(new Request('http://app.test/', init))).text();
      expect(warnings.map(({ code }) => code)).toEqual([...limiter.warnings.keys()]);
      return [...limiter.warnings];
    }

    const fromClient = { headers: { 'x-forwarded-for': '203.0.113.7' } };
    const signIn: express5.RequestHandler = (req, _res, next) => {
      Object.assign(req, { user: { id: 7 } });
      next();
    };

    it.each<[setting: unknown, codes: readonly string[]]>([
      [true, ['trust-everything']],
      [false, ['forwarding-header-ignored']],
      ['10.0.0.0/8', ['forwarding-header-ignored']],
      ['loopback', []],
      [['127.0.0.1'], []],
      [1, []],
    ])('trust proxy %j', async (setting, codes) => {
      const told = await said((app, limit) => app.set('trust proxy', setting).use(limit), fromClient);
      expect(told).toEqual(codes.map((code) => [code, 5]));
    });

    it('development on loopback is no wrong deployment', async () => {
      expect(await said((app, limit) => app.use(limit))).toEqual([]);
    });

    it('neither is a proxy on the same machine as the browser', async () => {
      const init = { headers: { 'x-forwarded-for': '127.0.0.1' } };
      expect(await said((app, limit) => app.set('trust proxy', 'loopback').use(limit), init)).toEqual([]);
    });

    it('a limiter above the authentication never sees a user', async () => {
      expect(await said((app, limit) => app.use(limit, signIn))).toEqual([['user-after-decision', 5]]);
    });

    it('one below it does', async () => {
      expect(await said((app, limit) => app.use(signIn, limit))).toEqual([]);
    });

    it('a login has its user later', async () => {
      expect(await said((app, limit) => app.use(limit, signIn), { method: 'POST' })).toEqual([]);
    });
  });
}
