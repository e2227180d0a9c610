import { createLimiter, type Limiter } from '../limiter.ts';
import { auth } from '../policy/auth.ts';
import { definePolicy } from '../policy/define-policy.ts';
import type { LimitOptions, PolicyOptions } from '../policy/policy.ts';
import type { ReplyOptions } from '../reply/reply-options.ts';
import type { Store } from '../stores/store.ts';
import type { AppSpec, Composition } from './app-spec.ts';
import type { TestClock } from './clock.ts';
import { createGate, type Gate } from './gate.ts';
import type { RunningApp } from './http-app.ts';

/** One case's application and the clock that its limiter counts by. */
export interface AdapterBench {
  readonly clock: TestClock;
  readonly composition: { readonly route: Composition; readonly scope: Composition };
  /** Makes the application with `policy` at the given limit, and talks to it. */
  start(options?: StartOptions): Promise<Client>;
  /** A store for several applications. */
  createStore(): Store;
  /** How many counters all stores of the case hold. */
  countKeys(): Promise<number>;
}

export type AdapterTest = (name: string, run: (bench: AdapterBench) => Promise<void>) => void;

export interface StartOptions extends Omit<Partial<PolicyOptions>, 'limits'> {
  /** Default: 3 per minute and identity. */
  readonly limit?: LimitOptions;
  /** In place of `limit`. */
  readonly limits?: readonly LimitOptions[];
  readonly reply?: ReplyOptions;
  readonly pepper?: string;
  readonly store?: Store;
  readonly onRead?: () => void;
  readonly http2?: boolean;
}

export type Headers = Readonly<Record<string, string>>;

export interface Client {
  readonly url: string;
  readonly app: RunningApp;
  readonly limiter: Limiter;
  /** Where `GET /slow` and `GET /early` wait. */
  readonly gate: Gate;
  /** What reached the framework's error handler. */
  readonly errors: readonly unknown[];
  get(path: string, headers?: Headers): Promise<Response>;
  send(method: string, path: string, headers?: Headers, signal?: AbortSignal): Promise<Response>;
  post(path: string, body: unknown, headers?: Headers): Promise<Response>;
}

/** Makes the application of a case. */
export async function startApp(
  create: (spec: AppSpec) => Promise<RunningApp>,
  store: Store,
  options: Omit<StartOptions, 'store'>,
): Promise<Client> {
  const { limit = { limit: 3, window: '1m' }, limits = [limit], reply = {}, pepper, ...others } = options;
  const { onRead = () => {}, http2 = false, ...policy } = others;
  const limiter = createLimiter({ store, reply, onWarning: () => {}, ...(pepper !== undefined && { pepper }) });
  const gate = createGate();
  const errors: unknown[] = [];
  const app = await create({
    limiter,
    policy: definePolicy({ name: 'everywhere', ...policy, limits }),
    search: definePolicy({ name: 'search', limits: [{ limit: 2, window: '1m' }] }),
    users: definePolicy({ name: 'users', limits: [{ per: 'route', limit: 2, window: '1m' }] }),
    nested: definePolicy({ name: 'nested', limits: [{ limit: 2, window: '1m' }] }),
    own: definePolicy({ name: 'own', limits: [{ limit: 1, window: '1m' }] }),
    chosen: choosePlan,
    login: (nameOf) => auth({ name: 'login', username: nameOf, success: ({ status }) => status === 200 }),
    onRead,
    onError: (error) => void errors.push(error),
    slow: () => gate.pass(),
    http2,
  });
  return { url: app.url, app, limiter, gate, errors, ...requestsTo(app) };
}

const pro = definePolicy({ name: 'pro', limits: [{ limit: 5, window: '1m' }] });
const free = definePolicy({ name: 'free', limits: [{ limit: 1, window: '1m' }] });

const choosePlan: AppSpec['chosen'] = (ctx) => {
  const plan = ctx.header('x-plan');
  if (plan === 'broken') throw new Error('no such plan');
  if (plan === 'none') return false;
  return plan === 'pro' ? pro : free;
};

function requestsTo(app: RunningApp): Pick<Client, 'get' | 'send' | 'post'> {
  const fetch = (path: string, headers: Headers, init: RequestInit): Promise<Response> =>
    app.fetch(new Request(`http://example.test${path}`, { ...init, headers: { 'user-agent': 'suite', ...headers } }));
  return {
    get: (path, headers = {}) => fetch(path, headers, {}),
    send: (method, path, headers = {}, signal) =>
      fetch(path, headers, { method, redirect: 'manual', ...(signal && { signal }) }),
    post: (path, body, headers = {}) =>
      fetch(path, { 'content-type': 'application/json', ...headers }, { method: 'POST', body: JSON.stringify(body) }),
  };
}

export async function inTurn(times: number, run: () => Promise<Response>): Promise<Response[]> {
  const responses: Response[] = [];
  for (let i = 0; i < times; i++) responses.push(await run());
  return responses;
}

export function statuses(responses: readonly Response[]): number[] {
  return responses.map(({ status }) => status);
}

/** The names of the policies that a response tells of. */
export function policiesOf({ headers }: Response): string[] {
  return [...(headers.get('ratelimit-policy') ?? '').matchAll(/"(\w+)"/g)].map(([, name]) => String(name)).toSorted();
}

/** What is left to the suite's client, after the request that asks for it. */
export async function remaining({ get }: Client, headers: Headers = {}): Promise<number> {
  const response = await get('/read', headers);
  return Number(response.headers.get('ratelimit-remaining') ?? Number.NaN);
}
