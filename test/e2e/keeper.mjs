// The application of secrets.test.ts: the built Express example with a pepper, and users whose ids are e-mail addresses.
// What it prints is what an operator reads.
import { createServer } from 'node:http';

const built = (/** @type {string} */ file) => new URL(`../../${file}`, import.meta.url).href;
const { createLimiter } = /** @type {typeof import('../../packages/core/src/index.ts')} */ (
  await import(built('packages/core/dist/index.mjs'))
);
const { redisStore } = /** @type {typeof import('../../packages/core/src/redis.ts')} */ (
  await import(built('packages/core/dist/redis.mjs'))
);
const { createApp } = /** @type {typeof import('../../examples/express/src/app.ts')} */ (
  await import(built('examples/express/dist/app.mjs'))
);

/** @param {unknown} error */
const print = (error) => void process.stderr.write(`${String(error)}\n`);

const { REDIS_URL = '', PEPPER = '', SHORT_PEPPER = '', BAD_URL = '' } = process.env;

for (const make of [() => createLimiter({ pepper: SHORT_PEPPER }), () => redisStore(BAD_URL)]) {
  try {
    make();
  } catch (error) {
    print(error);
  }
}

const limiter = createLimiter({
  store: redisStore(REDIS_URL, { prefix: 'secrets' }),
  pepper: PEPPER,
  identify(_, ctx) {
    const user = ctx.header('x-user');
    if (ctx.header('x-identify') === 'fails') throw new Error(`No session of ${user}`);
    return ctx.header('x-identify') === 'odd' ? /** @type {never} */ ({ id: { email: user } }) : user;
  },
});
await limiter.ready();
const server = createServer(createApp({ limiter, trustProxy: 'loopback', onError: print }));
server.listen(0, '127.0.0.1', () => process.send?.(server.address()));

process.once('message', () => {
  server.close();
  server.closeAllConnections();
  void limiter.close().then(() => process.disconnect());
});
