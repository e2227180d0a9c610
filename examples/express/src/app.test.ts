import { overHttp, type RunningApp } from '@tollgate/core/testing';
import { createLimiter, type Limiter } from '@tollgate/express';
import { createServer } from 'node:http';
import { afterEach, expect, it } from 'vitest';
import { describeExample } from '../../describe-example.ts';
import { createApp } from './app.ts';
import { start } from './start.ts';

const quiet = { onWarning: () => {} };

describeExample('express', start);

let app: RunningApp | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

async function send(method: string, path: string, body?: string, headers: Record<string, string> = {}) {
  const request = new Request(`http://demo.test${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: body ?? null,
  });
  app ??= await start();
  const response = await app.fetch(request);
  return { status: response.status, headers: response.headers, body: await response.json() };
}

const attempt = (email: string, password = 'guess') => send('POST', '/login', JSON.stringify({ email, password }));

it('tells a caller what is left of its budget', async () => {
  expect((await send('GET', '/')).body).toMatchObject({ name: 'Tollgate demo shop', remaining: 999 });
  expect((await send('GET', '/')).body).toMatchObject({ remaining: 998 });
  expect((await send('GET', '/', undefined, { 'x-api-key': 'another caller' })).body).toMatchObject({ remaining: 999 });
});

it('sells products', async () => {
  expect((await send('GET', '/products')).body).toHaveLength(3);
  expect((await send('GET', '/products/2')).body).toEqual({ id: 2, name: 'Standing desk', price: 420 });
  expect((await send('POST', '/search', '{"query":"DESK"}')).body).toMatchObject({ found: [{ id: 1 }, { id: 2 }] });
});

it('lets the right password in', async () => {
  expect(await attempt('ada@example.com', 'engine')).toMatchObject({
    status: 200,
    body: { welcome: 'ada@example.com' },
  });
});

it('counts every spelling of an e-mail address as one account, and each account for itself', async () => {
  const spellings = ['ada@example.com', ' ADA@example.com', 'Ada@Example.com', 'ada@example.com\t', 'ａda@example.com'];
  for (const email of spellings) expect((await attempt(email)).status).toBe(401);
  expect((await attempt('ada@example.com', 'engine')).status).toBe(429);
  expect((await attempt('grace@example.com')).status).toBe(401);
});

it('counts clients behind the proxies that it is told of', async () => {
  const left = async (client: string) =>
    (await send('GET', '/', undefined, { 'x-forwarded-for': `6.6.6.6, ${client}` })).body as object;
  app = await overHttp(createServer(createApp({ limiter: createLimiter(quiet), trustProxy: 'loopback' })));
  expect(await left('203.0.113.7')).toMatchObject({ remaining: 999 });
  expect(await left('203.0.113.8')).toMatchObject({ remaining: 999 });
  expect(await left('::ffff:203.0.113.7')).toMatchObject({ remaining: 998 });
});

it('lets one address try 20 accounts a minute', async () => {
  for (let i = 0; i < 20; i++) expect((await attempt(`user${i}@example.com`)).status).toBe(401);
  expect((await attempt('user20@example.com')).status).toBe(429);
});

it('tells who guesses passwords nothing but when to come back', async () => {
  for (let i = 0; i < 5; i++) await attempt('ada@example.com');
  const { headers, body } = await attempt('ada@example.com');
  expect(headers.get('ratelimit-policy')).not.toContain('login');
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(50);
  expect(body).toMatchObject({ error: 'rate_limit_exceeded' });
});

it.each([
  { what: 'malformed JSON', method: 'POST', path: '/login', body: '{"email":', status: 400, error: 'Bad Request' },
  { what: 'no body', method: 'POST', path: '/login', body: '', status: 401, error: 'Wrong email or password' },
  { what: 'JSON that is no object', method: 'POST', path: '/login', body: '[null]', status: 401, error: /^Wrong/ },
  {
    what: 'a body of 1 MB',
    method: 'POST',
    path: '/login',
    body: `"${'a'.repeat(1e6)}"`,
    status: 413,
    error: /Large$/,
  },
  { what: 'a path that cannot be decoded', method: 'GET', path: '/products/%ff', status: 400, error: 'Bad Request' },
  { what: 'an unknown path', method: 'GET', path: '/nothing', status: 404, error: 'Not Found' },
  { what: 'an unknown product', method: 'GET', path: '/products/9', status: 404, error: 'No such product' },
])('answers $what with JSON', async ({ method, path, body, status, error }) => {
  expect(await send(method, path, body)).toMatchObject({
    status,
    body: { error: expect.stringMatching(error) as string },
  });
});

it('counts what cannot be parsed, and what is parsed once', async () => {
  expect((await send('POST', '/login', '{"email":')).headers.get('ratelimit-remaining')).toBe('999');
  await attempt('ada@example.com');
  expect((await send('GET', '/products/9')).headers.get('ratelimit-remaining')).toBe('997');
});

it('answers an error with JSON that says nothing about it', async () => {
  const errors: unknown[] = [];
  const broken: Limiter = { ...createLimiter(), check: () => Promise.reject(new Error('secret')) };
  app = await overHttp(createServer(createApp({ limiter: broken, onError: (error) => errors.push(error) })));
  expect(await send('GET', '/')).toMatchObject({ status: 500, body: { error: 'Internal Server Error' } });
  expect(errors).toMatchObject([{ message: 'secret' }]);
});
