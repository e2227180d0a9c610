/** A request of the script, and how far the clock moves before it. */
export interface Step {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly waitMs: number;
}

type Request = Pick<Step, 'method' | 'path'> & { readonly json?: object };

const REQUESTS: readonly Request[] = [
  { method: 'GET', path: '/' },
  { method: 'GET', path: '/products' },
  { method: 'GET', path: '/products/2' },
  { method: 'GET', path: '/products/9' },
  { method: 'HEAD', path: '/products' },
  { method: 'HEAD', path: '/nothing' },
  { method: 'GET', path: '/health' },
  { method: 'GET', path: '/nothing?q=1' },
  { method: 'DELETE', path: '/products' },
  { method: 'POST', path: '/search', json: { query: 'DESK' } },
  { method: 'POST', path: '/search', json: { query: 'lamp' } },
  { method: 'POST', path: '/search', json: {} },
  { method: 'POST', path: '/login', json: { email: 'ada@example.com', password: 'guess' } },
  { method: 'POST', path: '/login', json: { email: ' ADA@example.com', password: 'guess' } },
  { method: 'POST', path: '/login', json: { email: 'ada@example.com', password: 'engine' } },
  { method: 'POST', path: '/login', json: { email: 'grace@example.com', password: 'guess' } },
  { method: 'POST', path: '/login', json: { password: 'guess' } },
  { method: 'POST', path: '/login', json: [null] },
];

const SEARCHES = REQUESTS.filter(({ path }) => path === '/search');
/** Searches come in numbers: somebody types. */
const MIX: readonly Request[] = [...REQUESTS, ...SEARCHES, ...SEARCHES];

const CALLERS: readonly Readonly<Record<string, string>>[] = [
  { 'user-agent': 'laptop' },
  { 'user-agent': 'laptop' },
  { 'user-agent': 'laptop' },
  { 'user-agent': 'phone' },
  { 'user-agent': 'laptop', 'x-api-key': 'a key' },
  { 'user-agent': 'phone', 'authorization': 'Bearer another-key' },
];

const ACCEPTS: readonly string[] = ['*/*', 'application/json', 'application/problem+json'];

/** Requests of all kinds in an order that only looks random: it is the same each time. */
export function createScript(length: number): Step[] {
  let seed = 20_260_704;
  const pick = <T>(from: readonly T[]): T => {
    // The generator of Park and Miller.
    seed = (seed * 48_271) % 2_147_483_647;
    return from[seed % from.length] as T;
  };
  return Array.from({ length }, () => {
    const { method, path, json } = pick(MIX);
    const headers = { ...pick(CALLERS), accept: pick(ACCEPTS), ...(json && { 'content-type': 'application/json' }) };
    // Now and then somebody pauses; most requests come at once.
    const waitMs = pick([0, 0, 0, 0, 0, 0, 0, 0, 500, 15_000]);
    return { method, path, headers, waitMs, ...(json && { body: JSON.stringify(json) }) };
  });
}

/** What a client is told, in one text: the status, the headers that the script is about, the body. */
export async function transcribe(step: Step, response: Response): Promise<string> {
  const { method, path, headers } = step;
  const told = [...response.headers].filter(([name]) =>
    /ratelimit|^(retry-after|cache-control|content-type)$/.test(name),
  );
  // Whether JSON says that it is UTF-8, which it always is, is the framework's habit.
  const lines = told.map(([name, value]) => `${name}: ${value.replace(/; ?charset=utf-8$/i, '')}`).toSorted();
  const caller = Object.values(headers).join(', ');
  return [`${method} ${path} (${caller})`, String(response.status), ...lines, await response.text()].join('\n');
}
