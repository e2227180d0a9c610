// What each way of loading the packages has to show, whoever loaded them.
const assert = require('node:assert/strict');
const { once } = require('node:events');

const tiny = { name: 'tiny', limits: [{ limit: 2, window: '1m' }] };

/** Asks a server that has begun to listen, and closes it once `count` answers are there. */
async function ask(server, count) {
  if (!server.listening) await once(server, 'listening');
  try {
    const answers = [];
    for (let i = 0; i < count; i++) {
      const response = await fetch(`http://127.0.0.1:${server.address().port}/`);
      answers.push({ status: response.status, text: await response.text() });
    }
    return answers;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** A server of an Express application behind one limit. */
function limited(express, middleware) {
  const app = express();
  app.use(middleware);
  app.get('/', (req, res) => res.send('hello'));
  return app.listen(0, '127.0.0.1');
}

function assertLimited(answers) {
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 429],
  );
  assert.equal(JSON.parse(answers[2].text).error, 'rate_limit_exceeded');
}

/** Every package says what it promises, and all adapters really limit. */
async function checkAll({
  core,
  redis,
  expressAdapter,
  fastifyAdapter,
  nestAdapter,
  honoAdapter,
  express,
  fastify,
  Hono,
}) {
  for (const name of ['createLimiter', 'definePolicy', 'read', 'memoryStore', 'partition']) {
    assert.equal(typeof core[name], 'function', `@tollgate/core ${name}`);
    assert.equal(typeof expressAdapter[name], 'function', `@tollgate/express ${name}`);
  }
  assert.equal(typeof redis.redisStore, 'function');
  for (const name of ['RateLimitModule', 'RateLimitGuard', 'RateLimit', 'SkipRateLimit']) {
    assert.equal(typeof nestAdapter[name], 'function', `@tollgate/nestjs ${name}`);
  }
  const policy = core.definePolicy(tiny);
  const limiter = () => core.createLimiter({ store: core.memoryStore() });

  assertLimited(await ask(limited(express, expressAdapter.rateLimit(policy, { limiter: limiter() })), 3));

  const app = fastify();
  await app.register(fastifyAdapter.rateLimit, { limiter: limiter(), policy });
  app.get('/', () => 'hello');
  await app.listen({ port: 0, host: '127.0.0.1' });
  assertLimited(await ask(app.server, 3));

  assert.equal(typeof honoAdapter.rateLimit(policy, { limiter: limiter() }), 'function');
  assert.equal(typeof Hono, 'function');
}

module.exports = { ask, assertLimited, checkAll, limited, tiny };
