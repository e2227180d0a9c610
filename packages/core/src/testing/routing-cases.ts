import { expect } from 'vitest';
import { type AdapterTest, type Client, inTurn, policiesOf, remaining, statuses } from './adapter-bench.ts';
import { exchange, fieldsOf, requestText, statusesOf } from './connection.ts';

const AMPLE = { limit: { limit: 100, window: '1m' } } as const;

/** The cases of describeAdapter about which policies a request meets, and what makes a counter. */
export function routingCases(test: AdapterTest): void {
  test('a limit per route counts by the pattern, not by the path', async ({ start }) => {
    const client = await start(AMPLE);
    const responses = [
      await client.get('/users/1'),
      await client.get('/users/2?page=2', from('203.0.113.7')),
      await client.get('/users/3', from('203.0.113.8')),
    ];
    expect(statuses(responses)).toEqual([200, 200, 429]);
    expect(await responses[1]?.json()).toEqual({ id: '2' });
  });

  test('a limit per route counts HEAD as GET', async ({ start }) => {
    const client = await start(AMPLE);
    const responses = [await client.send('HEAD', '/users/1'), await client.get('/users/2')];
    responses.push(await client.send('HEAD', '/users/3'));
    expect(statuses(responses)).toEqual([200, 200, 429]);
  });

  test('random paths make a bounded number of counters', async ({ start, countKeys }) => {
    const limits = [
      { limit: 1000, window: '1m' },
      { per: 'route', limit: 1000, window: '1m' },
    ] as const;
    const client = await start({ limits });
    await client.get('/nothing');
    const keys = await countKeys();
    expect(keys).toBeGreaterThan(1);
    const paths = Array.from({ length: 60 }, (_, i) => `/${Math.random().toString(36).slice(2)}/${i}?q=${i}`);
    const responses = await Promise.all(paths.map((path) => client.get(path)));
    expect(new Set(statuses(responses))).toEqual(new Set([404]));
    expect(await countKeys()).toBe(keys);
    expect(await remaining(client)).toBe(1000 - 62);
  });

  test('random query strings make no counter', async ({ start, countKeys }) => {
    const client = await start(AMPLE);
    await client.get('/read');
    const keys = await countKeys();
    await inTurn(10, () => client.get(`/read?${Math.random()}=${Math.random()}`));
    expect(await countKeys()).toBe(keys);
    expect(await remaining(client)).toBe(100 - 12);
  });

  test('a path without a route behind a prefix is counted', async ({ start }) => {
    const client = await start();
    let path = 0;
    // In Express and Hono a router's middleware runs for all paths behind its prefix, so its policy may deny first.
    const responses = await inTurn(4, () => client.get(`/nested/nothing/${path++}`));
    expect(responses[0]?.status).toBe(404);
    expect(responses[3]?.status).toBe(429);
    expect(policiesOf(responses[0] as Response)).toContain('everywhere');
  });

  test('a method without a route is counted', async ({ start }) => {
    const client = await start();
    const responses = await inTurn(4, () => client.send('DELETE', '/read'));
    expect(responses.map(({ status }) => [404, 405].includes(status))).toEqual([true, true, true, false]);
    expect(responses[3]?.status).toBe(429);
  });

  test('an OPTIONS request that is no preflight is counted', async ({ start }) => {
    const client = await start();
    const responses = await inTurn(4, () => client.send('OPTIONS', '/nothing', { origin: 'https://app.example' }));
    expect(statuses(responses).indexOf(429)).toBe(3);
  });

  test('a route with a policy is limited by it, with or without the one for everything', async (bench) => {
    const client = await bench.start();
    const response = await client.send('POST', '/search');
    const adds = bench.composition.route === 'adds';
    expect(policiesOf(response)).toEqual(adds ? ['everywhere', 'search'] : ['search']);
    expect(await remaining(client)).toBe(adds ? 1 : 2);
  });

  test('a scope with a policy is limited by it, with or without the one for everything', async (bench) => {
    const client = await bench.start(AMPLE);
    const responses = await inTurn(3, () => client.get('/nested/read'));
    const adds = bench.composition.scope === 'adds';
    expect(statuses(responses)).toEqual([200, 200, 429]);
    expect(policiesOf(responses[0] as Response)).toEqual(adds ? ['everywhere', 'nested'] : ['nested']);
    expect(await responses[0]?.json()).toEqual({ remaining: 1 });
    expect(await remaining(client)).toBe(adds ? 96 : 99);
  });

  test('a policy of a scope leaves other routes alone', async ({ start }) => {
    const client = await start(AMPLE);
    await inTurn(3, () => client.get('/nested/read'));
    const responses = [await client.get('/read'), await client.get('/users/1')];
    expect(statuses(responses)).toEqual([200, 200]);
    expect(responses.flatMap(policiesOf)).not.toContain('nested');
  });

  test('a route within a scope has its own policy, with or without the others', async ({ start, composition }) => {
    const client = await start(AMPLE);
    const responses = await inTurn(2, () => client.get('/nested/own'));
    expect(statuses(responses)).toEqual([200, 429]);
    const others = composition.route === 'adds' ? ['everywhere', 'nested'] : [];
    expect(policiesOf(responses[0] as Response)).toEqual([...others, 'own'].toSorted());
    // The scope's budget is 2, and what the route's denial was charged there is not given back.
    const left = composition.route === 'adds' ? 0 : 2;
    expect(statuses(await inTurn(3, () => client.get('/nested/read'))).filter((status) => status === 200)).toHaveLength(
      left,
    );
  });

  test('a function of the request chooses the policy, or none', async ({ start }) => {
    const client = await start(AMPLE);
    const as = (plan: string): ReturnType<Client['get']> => client.get('/chosen', { 'x-plan': plan });
    const responses = [await as('free'), await as('free'), await as('pro'), await as('none'), await as('none')];
    expect(statuses(responses)).toEqual([200, 429, 200, 200, 200]);
    expect(policiesOf(responses[2] as Response)).toContain('pro');
    expect(policiesOf(responses[3] as Response)).not.toContain('free');
  });

  test('a redirect is counted, and so is where it leads', async ({ start }) => {
    const client = await start();
    const redirect = await client.send('GET', '/redirect');
    expect([redirect.status, redirect.headers.get('location')]).toEqual([302, '/read']);
    expect(redirect.headers.get('ratelimit-remaining')).toBe('2');
    const followed = await client.get('/redirect');
    expect(await followed.json()).toEqual({ remaining: 0 });
  });

  test('an answer that is still fresh is counted', async ({ start }) => {
    const client = await start();
    expect((await client.get('/tagged')).headers.get('etag')).toBe('"v1"');
    // Not by fetch, which asks caches on the way for a new answer.
    const fresh = requestText('GET /tagged', ['If-None-Match: "v1"']);
    const received = await exchange(client.url, fresh, fresh, requestText('GET /tagged', ['Connection: close']));
    expect(statusesOf(received)).toEqual([304, 304, 429]);
    expect(fieldsOf(received, 'ratelimit-remaining')).toEqual(['1', '0', '0']);
    expect(fieldsOf(received, 'etag')).toEqual(['"v1"', '"v1"']);
  });
}

const from = (address: string): Record<string, string> => ({ 'x-forwarded-for': address });
