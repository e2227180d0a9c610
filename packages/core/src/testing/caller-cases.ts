import { expect } from 'vitest';
import { type AdapterTest, type Client, type Headers, inTurn, remaining, statuses } from './adapter-bench.ts';
import { exchange, fieldsOf, statusesOf } from './connection.ts';

/** The cases of describeAdapter about who a request is counted for: the user, else the API key, else address and agent. */
export function callerCases(test: AdapterTest): void {
  test('a user has one budget, whatever address, agent and key it comes with', async ({ start }) => {
    const client = await start();
    const as = (headers: Headers): Promise<Response> => client.get('/read', { 'x-user': 'ada', ...headers });
    const responses = [
      await as({}),
      await as({ 'x-forwarded-for': '203.0.113.7', 'user-agent': 'phone' }),
      await as({ 'x-api-key': 'a key' }),
      await as({ 'x-forwarded-for': '203.0.113.8', 'authorization': 'Bearer another-key' }),
    ];
    expect(statuses(responses)).toEqual([200, 200, 200, 429]);
  });

  test('users behind one address have budgets of their own', async ({ start }) => {
    const client = await start();
    expect(await drain(client, { 'x-user': 'ada' })).toEqual([200, 200, 200, 429]);
    expect(await drain(client, { 'x-user': 'grace' })).toEqual([200, 200, 200, 429]);
    expect(await drain(client, {})).toEqual([200, 200, 200, 429]);
  });

  test('a key has one budget, whatever address and agent it comes with', async ({ start }) => {
    const client = await start();
    const responses = [
      await client.get('/read', { 'x-api-key': 'a key' }),
      await client.get('/read', { 'x-api-key': 'a key', 'x-forwarded-for': '203.0.113.7' }),
      await client.get('/read', { 'x-api-key': 'a key', 'user-agent': 'phone' }),
      await client.get('/read', { 'x-api-key': 'a key', 'x-forwarded-for': '2001:db8::1' }),
    ];
    expect(statuses(responses)).toEqual([200, 200, 200, 429]);
    expect(await remaining(client, { 'x-api-key': 'another' })).toBe(2);
  });

  test('a bearer token is a key, and one that is a JWT is none', async ({ start }) => {
    const client = await start();
    expect(await drain(client, { authorization: 'Bearer opaque-token' })).toEqual([200, 200, 200, 429]);
    expect(await remaining(client)).toBe(2);
    const jwt = `Bearer ${['{"alg":"HS256"}', '{"sub":"ada"}', 'signature'].map(base64url).join('.')}`;
    expect(await remaining(client, { authorization: jwt })).toBe(1);
  });

  test('a client without a key is its address and its agent', async ({ start }) => {
    const client = await start();
    const phone = { 'x-forwarded-for': '203.0.113.7', 'user-agent': 'phone' };
    expect(await drain(client, phone)).toEqual([200, 200, 200, 429]);
    expect(await remaining(client, { ...phone, 'user-agent': 'laptop' })).toBe(2);
    expect(await remaining(client, { ...phone, 'x-forwarded-for': '203.0.113.8' })).toBe(2);
  });

  test('the addresses of an IPv6 network are one client', async ({ start }) => {
    const client = await start();
    const spelt = ['2001:db8:1:2::1', '2001:DB8:1:2:ffff::', '2001:db8:1:2:0:0:0:9', '2001:db8:1:2::1'];
    const responses: Response[] = [];
    for (const address of spelt) responses.push(await client.get('/read', { 'x-forwarded-for': address }));
    expect(statuses(responses)).toEqual([200, 200, 200, 429]);
    expect(await remaining(client, { 'x-forwarded-for': '2001:db8:1:3::1' })).toBe(2);
  });

  test('an IPv4 address is one client, however it is written', async ({ start }) => {
    const client = await start();
    for (const address of ['203.0.113.7', '::ffff:203.0.113.7', '::ffff:cb00:7107'])
      await client.get('/read', { 'x-forwarded-for': address });
    expect((await client.get('/read', { 'x-forwarded-for': '203.0.113.7' })).status).toBe(429);
  });

  test('a client without an agent is counted', async ({ start }) => {
    const client = await start();
    const text = 'GET /read HTTP/1.1\r\nHost: example.test\r\n';
    const received = await exchange(
      client.url,
      ...Array<string>(3).fill(`${text}\r\n`),
      `${text}Connection: close\r\n\r\n`,
    );
    expect(statusesOf(received)).toEqual([200, 200, 200, 429]);
    expect(fieldsOf(received, 'ratelimit-remaining')).toEqual(['2', '1', '0', '0']);
  });

  test('a limit per user is for users only', async ({ start }) => {
    const limits = [
      { name: 'user', per: 'user', limit: 1, window: '1m' },
      { name: 'ip', per: 'ip', limit: 100, window: '1m' },
    ] as const;
    const client = await start({ limits });
    expect(await drain(client, {})).toEqual([200, 200, 200, 200]);
    expect(await drain(client, { 'x-user': 'ada' })).toEqual([200, 429, 429, 429]);
  });

  test('a request that authentication refuses is counted', async ({ start }) => {
    const client = await start();
    const responses = await inTurn(4, () => client.get('/private'));
    expect(statuses(responses)).toEqual([401, 401, 401, 429]);
    expect(responses[0]?.headers.get('ratelimit-remaining')).toBe('2');
    const known = await client.get('/private', { 'x-user': 'ada' });
    expect([known.status, await known.json()]).toEqual([200, { user: 'ada' }]);
  });

  test('the sixth attempt at one account is denied, and told nothing but when to come back', async ({ start }) => {
    const client = await start({ limit: { limit: 100, window: '1m' } });
    const responses = await inTurn(6, () => client.post('/login', { name: 'ada', secret: 'wrong' }));
    expect(statuses(responses)).toEqual([401, 401, 401, 401, 401, 429]);
    const denied = responses[5] as Response;
    expect(Number(denied.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect([...denied.headers].flat().join(' ')).not.toContain('login');
    expect(await denied.json()).toMatchObject({ error: 'rate_limit_exceeded' });
    // The right secret is not even looked at, and another account is free to try.
    expect((await client.post('/login', { name: 'ada', secret: 'right' })).status).toBe(429);
    expect((await client.post('/login', { name: 'grace', secret: 'right' })).status).toBe(200);
  });

  test('a login that worked forgets the attempts before it', async ({ start }) => {
    const client = await start({ limit: { limit: 100, window: '1m' } });
    const wrong = (): Promise<Response> => client.post('/login', { name: 'ada', secret: 'wrong' });
    expect(statuses(await inTurn(4, wrong))).toEqual([401, 401, 401, 401]);
    expect((await client.post('/login', { name: 'ADA ', secret: 'right' })).status).toBe(200);
    // It is forgotten when the response is over, which may be a moment after it arrived; what is denied is not counted.
    await expect.poll(async () => (await wrong()).status, { timeout: 4000 }).toBe(401);
    expect(statuses(await inTurn(3, wrong))).toEqual([401, 401, 401]);
  });
}

/** One request more than the limit of three. */
async function drain({ get }: Client, headers: Headers): Promise<number[]> {
  return statuses(await inTurn(4, () => get('/read', headers)));
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}
