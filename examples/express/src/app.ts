import { type Limiter, normalizeUsername, rateLimit } from '@tollgate/express';
import express, { type ErrorRequestHandler, type Express } from 'express';
import { STATUS_CODES } from 'node:http';
import { emailOf, everything, login, search } from './policies.ts';

const PRODUCTS = [
  { id: 1, name: 'Desk lamp', price: 39 },
  { id: 2, name: 'Standing desk', price: 420 },
  { id: 3, name: 'Office chair', price: 260 },
];
/** The demo's only account. A real application looks it up and compares a password hash. */
const ACCOUNT = { email: 'ada@example.com', password: 'engine' };

export interface AppOptions {
  readonly limiter: Limiter;
  /** Addresses of the proxies before the application, as Express takes them: `loopback`, `10.0.0.0/8`. Default: there is none. */
  readonly trustProxy?: string | undefined;
  /** Told what went wrong when a request is answered with a 500. */
  readonly onError?: (error: unknown) => void;
}

export function createApp({ limiter, trustProxy, onError = () => {} }: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  if (trustProxy !== undefined) app.set('trust proxy', trustProxy);

  // Before the limiter: a health check must not run out of quota.
  app.get('/health', (_req, res) => void res.json({ ok: true }));

  // Two policies on one route, decided together: a guess that is denied costs the caller nothing of its 1000. Before
  // `everything`, which would be charged first; after the parser, because `login` counts by what is in the body.
  app.post('/login', express.json(), rateLimit([everything, login], { limiter }), (req, res) => {
    const { password } = (req.body ?? {}) as { password?: unknown };
    const email = emailOf(req.body);
    // Spelt as the limiter spells it, or `ADA@example.com ` would get attempts of its own at this account.
    const isAccount = typeof email === 'string' && normalizeUsername(email) === ACCOUNT.email;
    if (isAccount && password === ACCOUNT.password) res.json({ welcome: ACCOUNT.email });
    else res.status(401).json({ error: 'Wrong email or password' });
  });

  // Before the parser: what is denied is not worth parsing.
  app.post('/search', rateLimit([everything, search], { limiter }), express.json(), (req, res) => {
    const { query } = (req.body ?? {}) as { query?: unknown };
    const words = typeof query === 'string' ? query.toLowerCase() : '';
    res.json({ found: PRODUCTS.filter(({ name }) => name.toLowerCase().includes(words)) });
  });

  const limited = rateLimit(everything, { limiter });
  app.use(limited);

  app.get('/', (req, res) => {
    const { remaining } = req.rateLimit?.quota ?? {};
    res.json({ name: 'Tollgate demo shop', try: ['GET /products', 'POST /login', 'POST /search'], remaining });
  });

  app.get('/products', (_req, res) => void res.json(PRODUCTS));

  app.get('/products/:id', (req, res) => {
    const product = PRODUCTS.find(({ id }) => String(id) === req.params.id);
    if (product) res.json(product);
    else res.status(404).json({ error: 'No such product' });
  });

  app.use((_req, res) => void res.status(404).json({ error: 'Not Found' }));

  // A body that cannot be parsed met no limiter yet; what did is not counted twice.
  app.use(((error, req, res, next) =>
    limited(req, res, (failed?: unknown) => next(failed ?? error))) satisfies ErrorRequestHandler);

  app.use(((error, _req, res, next) => {
    if (res.headersSent) return next(error);
    // Express's own errors, such as a body that is no JSON, carry the status that they mean.
    const status = (error as { status?: number } | undefined)?.status ?? 500;
    if (status >= 500) onError(error);
    res.status(status).json({ error: STATUS_CODES[status] });
  }) satisfies ErrorRequestHandler);

  return app;
}
