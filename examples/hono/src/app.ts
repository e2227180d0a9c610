import {
  auth,
  createLimiter,
  expensive,
  normalizeUsername,
  rateLimit,
  type RateLimitVariables,
  read,
  routes,
} from '@tollgate/hono';
import { type Context, Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';

const PRODUCTS = [
  { id: 1, name: 'Desk lamp', price: 39 },
  { id: 2, name: 'Standing desk', price: 420 },
  { id: 3, name: 'Office chair', price: 260 },
];
/** The demo's only account. A real application looks it up and compares a password hash. */
const ACCOUNT = { email: 'ada@example.com', password: 'engine' };

/** Everything: 1000 requests a minute for each caller. */
const everything = read();
const login = auth({
  name: 'login',
  username: async (c) => emailOf(await bodyOf(c)),
  success: ({ status }) => status === 200,
});
/** Six at once, and one more each ten seconds. */
const search = expensive({ name: 'search' });

/** Who is limited by what, in one place. Policies in an array are decided together. */
const table = routes<Context>({
  '/health': false,
  'POST /login': [everything, login],
  'POST /search': [everything, search],
  '*': everything,
});

export function createApp(limiter = createLimiter()): Hono<{ Variables: RateLimitVariables }> {
  const app = new Hono<{ Variables: RateLimitVariables }>();

  app.use(rateLimit(table, { limiter }));

  app.get('/health', (c) => c.json({ ok: true }));

  app.get('/', (c) => {
    const { remaining } = c.get('rateLimit')?.quota ?? {};
    return c.json({ name: 'Tollgate demo shop', try: ['GET /products', 'POST /login', 'POST /search'], remaining });
  });

  app.get('/products', (c) => c.json(PRODUCTS));

  app.get('/products/:id', (c) => {
    const product = PRODUCTS.find(({ id }) => String(id) === c.req.param('id'));
    return product ? c.json(product) : c.json({ error: 'No such product' }, 404);
  });

  app.post('/login', async (c) => {
    const body = await bodyOf(c);
    if (emailOf(body) === ACCOUNT.email && body.password === ACCOUNT.password)
      return c.json({ welcome: ACCOUNT.email });
    return c.json({ error: 'Wrong email or password' }, 401);
  });

  app.post('/search', async (c) => {
    const { query } = await bodyOf(c);
    const words = typeof query === 'string' ? query.toLowerCase() : '';
    return c.json({ found: PRODUCTS.filter(({ name }) => name.toLowerCase().includes(words)) });
  });

  app.notFound((c) => c.json({ error: 'Not Found' }, 404));
  app.onError((error, c) =>
    error instanceof HTTPException
      ? c.json({ error: error.message }, error.status)
      : c.json({ error: 'Internal Server Error' }, 500),
  );
  return app;
}

/** Hono keeps the body: the policy and the handler may both ask for it. */
async function bodyOf(c: Context): Promise<Record<string, unknown>> {
  try {
    return { ...(await c.req.json<object | null>()) };
  } catch {
    throw new HTTPException(400, { message: 'Bad Request' });
  }
}

/** One spelling for each account, or `ADA@example.com ` would get five attempts of its own. */
function emailOf({ email }: Record<string, unknown>): string | undefined {
  return typeof email === 'string' ? normalizeUsername(email) : undefined;
}
