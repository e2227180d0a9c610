// One limiter in one HTTP server, as its documentation says for a store that fails: 100 an hour for each caller, counted in
// Redis. `GET /` is limited, `GET /counted` tells how many requests of the load Redis has counted.
// Arguments: which limiter, the port of Redis, the addresses of the callers.
import fastifyRateLimit from '@fastify/rate-limit';
import { createLimiter, read } from '@tollgate/core';
import { redisStore } from '@tollgate/core/redis';
import { rateLimit as tollgate } from '@tollgate/express';
import express from 'express';
import { rateLimit as expressRateLimit } from 'express-rate-limit';
import { fastify } from 'fastify';
import { Redis } from 'ioredis';
import { RedisStore } from 'rate-limit-redis';
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';

const LIMIT = 100;
const WINDOW_MS = 3_600_000;

const [name = '', port, ...callers] = process.argv.slice(2);

/** @type {Record<string, () => Promise<number>>} each listens, and answers its port */
const servers = {
  async 'Tollgate'() {
    const limiter = createLimiter({ store: redisStore(`redis://127.0.0.1:${port}`) });
    const policy = read({ limit: LIMIT, window: '1h' });
    const app = express().set('trust proxy', 'loopback');
    app.get('/counted', async (_req, res) => {
      let counted = 0;
      for (const ip of callers) {
        const facts = { method: 'GET', path: '/', route: undefined, ip, user: undefined, raw: {} };
        const verdict = await limiter.peek({ ...facts, header: () => undefined }, policy);
        const outcome = verdict?.source === 'store' ? verdict.outcomes[0] : undefined;
        counted += outcome === undefined ? Number.NaN : LIMIT - outcome.remaining;
      }
      res.send(String(counted));
    });
    app.get('/', tollgate(policy, { limiter }), (_req, res) => void res.send('ok'));
    return listen(app);
  },
  async 'express-rate-limit + rate-limit-redis'() {
    const client = connect({});
    const app = express().set('trust proxy', 'loopback');
    app.get('/counted', async (_req, res) => void res.send(await sumOf(client, 'rl:')));
    const limiter = expressRateLimit({
      windowMs: WINDOW_MS,
      limit: LIMIT,
      passOnStoreError: true,
      store: new RedisStore({
        sendCommand: async (command, ...args) =>
          /** @type {import('rate-limit-redis').RedisReply} */ (await client.call(command, ...args)),
      }),
    });
    app.get('/', limiter, (_req, res) => void res.send('ok'));
    return listen(app);
  },
  async '@fastify/rate-limit'() {
    // Its README recommends these two settings over the client's defaults.
    const redis = connect({ connectTimeout: 500, maxRetriesPerRequest: 1 });
    const app = fastify({ trustProxy: '127.0.0.1' });
    await app.register(fastifyRateLimit, { max: LIMIT, timeWindow: WINDOW_MS, redis, skipOnError: true });
    app.get('/counted', { config: { rateLimit: false } }, () => sumOf(redis, 'fastify-rate-limit-'));
    app.get('/', async () => 'ok');
    await app.listen({ port: 0, host: '127.0.0.1' });
    return portOf(app.server.address());
  },
  async 'rate-limiter-flexible'() {
    const storeClient = connect({ enableOfflineQueue: false });
    const limiter = new RateLimiterRedis({
      storeClient,
      points: LIMIT,
      duration: WINDOW_MS / 1000,
      // A quarter, as Tollgate's.
      insuranceLimiter: new RateLimiterMemory({ points: LIMIT / 4, duration: WINDOW_MS / 1000 }),
    });
    const app = express().set('trust proxy', 'loopback');
    app.get('/counted', async (_req, res) => void res.send(await sumOf(storeClient, 'rlflx:')));
    app.get('/', (req, res) => {
      limiter.consume(req.ip ?? '').then(
        () => res.send('ok'),
        (error) => res.sendStatus(error instanceof Error ? 500 : 429),
      );
    });
    return listen(app);
  },
};

const server = servers[name];
if (server === undefined) throw new Error(`no such limiter: ${name}`);
process.send?.(await server());
process.once('disconnect', () => process.exit());

/** @param {{ connectTimeout?: number; maxRetriesPerRequest?: number; enableOfflineQueue?: boolean }} options */
function connect(options) {
  return new Redis(Number(port), '127.0.0.1', options).on('error', () => {});
}

/**
 * @param {Redis} client
 * @param {string} prefix
 */
async function sumOf(client, prefix) {
  const counts = await client.mget(callers.map((ip) => prefix + ip));
  return String(counts.reduce((sum, count) => sum + Number(count ?? 0), 0));
}

/** @param {import('express').Express} app */
async function listen(app) {
  const listening = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => listening.once('listening', resolve));
  return portOf(listening.address());
}

/** @param {string | import('node:net').AddressInfo | null} address */
function portOf(address) {
  return typeof address === 'object' && address !== null ? address.port : 0;
}
