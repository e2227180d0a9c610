// One process of processes.test.ts: makes 500 concurrent calls on one key, with the built package, and sends what became
// of each.
const built = (/** @type {string} */ file) => new URL(`../../packages/core/dist/${file}`, import.meta.url).href;
const { createLimiter, definePolicy } = /** @type {typeof import('../../packages/core/src/index.ts')} */ (
  await import(built('index.mjs'))
);
const { redisStore } = /** @type {typeof import('../../packages/core/src/redis.ts')} */ (
  await import(built('redis.mjs'))
);

const [url, prefix = '', name, limit] = process.argv.slice(2);
const algorithm = /** @type {import('../../packages/core/src/index.ts').AlgorithmName} */ (name);
const burst = algorithm === 'leaky-bucket' ? { burst: Number(limit) } : {};
const policy = definePolicy({
  name: 'shared',
  // A window so long that it does not end meanwhile, and that a bucket gives back nothing.
  limits: [{ algorithm, limit: Number(limit), window: '31d', per: 'global', ...burst }],
});
const limiter = createLimiter({ store: redisStore(url, { prefix }), deadline: '10s' });
await limiter.ready();

process.send?.('ready');
await new Promise((resolve) => process.once('message', () => resolve(undefined)));
const took = await Promise.all(Array.from({ length: 500 }, take));
process.send?.(took);
await limiter.close();
process.disconnect();

async function take() {
  const facts = { method: 'GET', path: '/', route: undefined, ip: '127.0.0.1', user: undefined, raw: {} };
  const decision = await limiter.check({ ...facts, header: () => undefined }, policy);
  return { source: decision?.source, allowed: decision?.allowed, remaining: decision?.binding?.remaining };
}
