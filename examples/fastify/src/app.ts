import { auth, createLimiter, expensive, normalizeUsername, rateLimit, read } from '@tollgate/fastify';
import { fastify, type FastifyInstance } from 'fastify';
import { STATUS_CODES } from 'node:http';

const PRODUCTS = [
  { id: 1, name: 'Desk lamp', price: 39 },
  { id: 2, name: 'Standing desk', price: 420 },
  { id: 3, name: 'Office chair', price: 260 },
];
/** The demo's only account. A real application looks it up and compares a password hash. */
const ACCOUNT = { email: 'ada@example.com', password: 'engine' };

/** Everything: 1000 requests a minute for each caller. */
const everything = read();
/** Its address's limits are looked at before the body is read, and all of them are decided when it is parsed. */
const login = auth({
  name: 'login',
  username: ({ body }) => emailOf(body),
  success: ({ status }) => status === 200,
});
/** Six at once, and one more each ten seconds. */
const search = expensive({ name: 'search' });

export async function createApp(limiter = createLimiter()): Promise<FastifyInstance> {
  const app = fastify();
  await app.register(rateLimit, { limiter, policy: everything });

  app.get('/health', { config: { rateLimit: false } }, async () => ({ ok: true }));

  app.get('/', (request, reply) => {
    const { remaining } = request.rateLimit?.quota ?? {};
    return reply.send({ name: 'Tollgate demo shop', try: ['GET /products', 'POST /login', 'POST /search'], remaining });
  });

  app.get('/products', async () => PRODUCTS);

  app.get<{ Params: { id: string } }>('/products/:id', async (request, reply) => {
    const product = PRODUCTS.find(({ id }) => String(id) === request.params.id);
    return product ?? reply.code(404).send({ error: 'No such product' });
  });

  // A route's policies come in place of the plugin's, so the one for everything is named again: decided together.
  app.post('/login', { config: { rateLimit: [everything, login] } }, async ({ body }, reply) => {
    const { password } = (body ?? {}) as { password?: unknown };
    if (emailOf(body) === ACCOUNT.email && password === ACCOUNT.password) return { welcome: ACCOUNT.email };
    return reply.code(401).send({ error: 'Wrong email or password' });
  });

  app.post('/search', { config: { rateLimit: [everything, search] } }, async ({ body }) => {
    const { query } = (body ?? {}) as { query?: unknown };
    const words = typeof query === 'string' ? query.toLowerCase() : '';
    return { found: PRODUCTS.filter(({ name }) => name.toLowerCase().includes(words)) };
  });

  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: 'Not Found' }));
  // Fastify's own errors, such as a body that is no JSON, carry the status that they mean.
  app.setErrorHandler<{ statusCode?: number }>(({ statusCode = 500 }, _request, reply) =>
    reply.code(statusCode).send({ error: STATUS_CODES[statusCode] }),
  );
  return app;
}

/** One spelling for each account, or `ADA@example.com ` would get five attempts of its own. */
function emailOf(body: unknown): string | undefined {
  const { email } = (body ?? {}) as { email?: unknown };
  return typeof email === 'string' ? normalizeUsername(email) : undefined;
}
