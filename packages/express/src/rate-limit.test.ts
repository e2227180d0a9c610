import { type AppSpec, describeAdapter, overHttp } from '@tollgate/core/testing';
import express5 from 'express';
import express4 from 'express4';
import { createServer } from 'node:http';
import { rateLimit } from './index.ts';

for (const [version, express] of [
  ['4', express4 as unknown as typeof express5],
  ['5', express5],
] as const) {
  describeAdapter({
    name: `express ${version}`,
    async create({ limiter, policy, search, onRead }: AppSpec) {
      const app = express();
      // Keeps the stack trace of /throw out of the test's output.
      app.set('env', 'test');
      app.get('/health', (_req, res) => void res.json({ ok: true }));
      app.use(rateLimit(policy, { limiter }));
      app.get('/read', (req, res) => {
        onRead();
        res.json({ remaining: req.rateLimit?.quota?.remaining });
      });
      app.post('/search', rateLimit(search, { limiter }), (_req, res) => void res.json({ ok: true }));
      app.get('/twice', rateLimit(policy, { limiter }), (_req, res) => void res.json({ ok: true }));
      app.get('/throw', () => {
        throw new Error('boom');
      });
      app.get('/stream', (_req, res) => {
        for (const part of ['one', 'two', 'three']) res.write(part);
        res.end();
      });
      return overHttp(createServer(app));
    },
  });
}
