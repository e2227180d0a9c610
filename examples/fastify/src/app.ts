import { createLimiter, definePolicy, expensive, rateLimit, read } from '@tollgate/fastify';
import { fastify, type FastifyInstance } from 'fastify';

const PRODUCTS = [
  { id: 1, name: 'Desk lamp', price: 39 },
  { id: 2, name: 'Standing desk', price: 420 },
  { id: 3, name: 'Office chair', price: 260 },
];
/** The example's only account. A real application looks it up and compares a password hash. */
const ACCOUNT = { email: 'ada@example.com', password: 'engine' };

/** Decided in `onRequest`, before the body is parsed: it counts what is known by then, the address. */
const login = definePolicy({ name: 'login', limits: [{ per: 'ip', limit: 5, window: '1m' }], disclose: 'retry-after' });
/** Six at once, and one more each ten seconds. */
const search = expensive({ name: 'search' });

export async function createApp(limiter = createLimiter()): Promise<FastifyInstance> {
  const app = fastify();
  await app.register(rateLimit, { limiter, policy: read() });

  app.get('/health', { config: { rateLimit: false } }, async () => ({ ok: true }));

  app.get('/', (request, reply) =>
    reply.send({ name: 'Tollgate example shop', remaining: request.rateLimit?.quota?.remaining }),
  );

  app.get('/products', async () => PRODUCTS);

  app.get<{ Params: { id: string } }>('/products/:id', async (request, reply) => {
    const product = PRODUCTS.find(({ id }) => String(id) === request.params.id);
    return product ?? reply.code(404).send({ error: 'No such product' });
  });

  app.post<{ Body: { email: string; password: string } }>(
    '/login',
    { config: { rateLimit: login }, schema: { body: strings('email', 'password') } },
    async ({ body: { email, password } }, reply) => {
      if (email === ACCOUNT.email && password === ACCOUNT.password) return { welcome: email };
      return reply.code(401).send({ error: 'Wrong email or password' });
    },
  );

  app.post<{ Body: { query: string } }>(
    '/search',
    { config: { rateLimit: search }, schema: { body: strings('query') } },
    async ({ body: { query } }) => ({
      found: PRODUCTS.filter(({ name }) => name.toLowerCase().includes(query.toLowerCase())),
    }),
  );

  return app;
}

/** The JSON Schema of an object that has these strings. */
function strings(...names: string[]): object {
  return {
    type: 'object',
    required: names,
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
  };
}
