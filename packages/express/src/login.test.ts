import { describeLogin, overHttp } from '@tollgate/core/testing';
import express5, { type Request } from 'express';
import express4 from 'express4';
import { createServer } from 'node:http';
import { rateLimit } from './index.ts';

for (const [version, express] of [
  ['4', express4 as unknown as typeof express5],
  ['5', express5],
] as const) {
  describeLogin({
    name: `express ${version}`,
    create({ limiter, policies, answer }) {
      const app = express();
      app.set('trust proxy', 'loopback');
      const by = policies<Request>((req) => (req.body as { name?: unknown } | undefined)?.name);
      for (const step of ['login', 'code'] as const) {
        app.post(`/${step}`, express.json(), rateLimit(by[step], { limiter }), (req, res) => {
          const { status, body } = answer(step, req.body);
          res.status(status).json(body);
        });
      }
      return overHttp(createServer(app));
    },
    ...(version === '4' && { skipLarge: 'Express 5 is asked as often' }),
  });
}
