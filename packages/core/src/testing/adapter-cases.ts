import { parseList } from 'structured-headers';
import { expect } from 'vitest';
import { redisStore } from '../stores/redis-store.ts';
import { type AdapterTest, inTurn, statuses } from './adapter-bench.ts';

/** The cases of describeAdapter. `policy` is 3 per minute per identity unless a case says otherwise. */
export function adapterCases(test: AdapterTest): void {
  test('a request below the limit passes and is told what is left', async ({ start }) => {
    const client = await start();
    const response = await client.get('/read');
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ remaining: 2 });
    expect(parseList(response.headers.get('ratelimit-policy') ?? '')).toEqual([
      [
        'everywhere',
        new Map([
          ['q', 3],
          ['w', 60],
        ]),
      ],
    ]);
    expect(parseList(response.headers.get('ratelimit') ?? '')).toEqual([
      [
        'everywhere',
        new Map([
          ['r', 2],
          ['t', expect.any(Number) as number],
        ]),
      ],
    ]);
    expect(response.headers.get('ratelimit-limit')).toBe('3');
    expect(response.headers.get('ratelimit-remaining')).toBe('2');
    expect(Number(response.headers.get('ratelimit-reset'))).toBeGreaterThanOrEqual(60);
    expect(response.headers.get('x-ratelimit-limit')).toBe('3');
    expect(response.headers.get('x-ratelimit-remaining')).toBe('2');
    const seconds = Number(response.headers.get('x-ratelimit-reset')) - Date.now() / 1000;
    expect(seconds).toBeGreaterThan(50);
    expect(seconds).toBeLessThan(122);
    expect(response.headers.get('retry-after')).toBeNull();
  });

  test('the limit is admitted to the last unit, and not one more', async ({ start }) => {
    const client = await start();
    const responses = await inTurn(5, () => client.get('/read'));
    expect(statuses(responses)).toEqual([200, 200, 200, 429, 429]);
    expect(responses.map((response) => response.headers.get('ratelimit-remaining'))).toEqual(['2', '1', '0', '0', '0']);
  });

  test('a denial says why, and when to come back', async ({ start }) => {
    const client = await start();
    await inTurn(3, () => client.get('/read'));
    const response = await client.get('/read');
    const retryAfter = Number(response.headers.get('retry-after'));
    expect(Number.isInteger(retryAfter) && retryAfter >= 1).toBe(true);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('content-type')).toMatch(/^application\/json(;|$)/);
    const [[, parameters] = []] = parseList(response.headers.get('ratelimit') ?? '');
    expect(parameters?.get('r')).toBe(0);
    expect(parameters?.get('t')).toBeLessThanOrEqual(retryAfter);
    expect(await response.json()).toEqual({
      error: 'rate_limit_exceeded',
      message: `Too many requests. Try again in ${retryAfter} seconds.`,
      retry_after: retryAfter,
    });
  });

  test('who waits for Retry-After passes', async ({ clock, start }) => {
    const client = await start();
    for (let phase = 0; phase < 5; phase++) {
      clock.advance(7_919);
      await inTurn(3, () => client.get('/read'));
      const denied = await client.get('/read');
      expect(denied.status).toBe(429);
      clock.advance(Number(denied.headers.get('retry-after')) * 1000);
      expect((await client.get('/read')).status).toBe(200);
      clock.advance(120_000);
    }
  });

  test('clients have budgets of their own', async ({ start }) => {
    const client = await start();
    const as = (key: string) => () => client.get('/read', { 'x-api-key': key });
    expect(statuses(await inTurn(4, as('alice')))).toEqual([200, 200, 200, 429]);
    expect(statuses(await inTurn(4, as('bob')))).toEqual([200, 200, 200, 429]);
  });

  test('a client cannot widen its budget with fresh identities', async ({ start }) => {
    const client = await start({ backstop: 2 });
    let fresh = 0;
    const responses = await inTurn(8, () =>
      client.get('/read', { 'x-api-key': `key-${fresh++}`, 'user-agent': `agent-${fresh}` }),
    );
    expect(statuses(responses)).toEqual([200, 200, 200, 200, 200, 200, 429, 429]);
    expect(responses[7]?.headers.get('ratelimit-policy')).not.toContain('site');
  });

  test('policies have budgets of their own', async ({ start }) => {
    const client = await start({ limit: { limit: 10, window: '1m' } });
    const searches = await inTurn(3, () => client.send('POST', '/search'));
    expect(statuses(searches)).toEqual([200, 200, 429]);
    expect(searches[0]?.headers.get('ratelimit-policy')).toContain('"search";q=2;w=60');
    expect(searches[0]?.headers.get('ratelimit-limit')).toBe('2');
    expect((await client.get('/read')).status).toBe(200);
  });

  test('a policy that is mounted twice is charged once', async ({ start }) => {
    const client = await start();
    const responses = await inTurn(4, () => client.get('/twice'));
    expect(statuses(responses)).toEqual([200, 200, 200, 429]);
    expect(parseList(responses[0]?.headers.get('ratelimit') ?? '')).toHaveLength(1);
  });

  test('HEAD shares the budget of GET', async ({ start }) => {
    const client = await start();
    await client.get('/read');
    const responses = await inTurn(3, () => client.send('HEAD', '/read'));
    expect(statuses(responses)).toEqual([200, 200, 429]);
    expect(await responses[2]?.text()).toBe('');
    expect(responses[2]?.headers.get('retry-after')).not.toBeNull();
    expect((await client.get('/read')).status).toBe(429);
  });

  test('a CORS preflight is not counted', async ({ start }) => {
    const client = await start();
    const preflight = { 'origin': 'https://app.example', 'access-control-request-method': 'POST' };
    const responses = await inTurn(5, () => client.send('OPTIONS', '/read', preflight));
    expect(statuses(responses)).not.toContain(429);
    expect((await client.get('/read')).headers.get('ratelimit-remaining')).toBe('2');
  });

  test('what is skipped is not counted', async ({ start }) => {
    const client = await start({ skip: (_, ctx) => ctx.header('x-internal') === 'yes' });
    expect(statuses(await inTurn(5, () => client.get('/health')))).toEqual([200, 200, 200, 200, 200]);
    const skipped = await inTurn(5, () => client.get('/read', { 'x-internal': 'yes' }));
    expect(statuses(skipped)).toEqual([200, 200, 200, 200, 200]);
    expect(skipped[0]?.headers.get('ratelimit')).toBeNull();
    expect((await client.get('/read')).headers.get('ratelimit-remaining')).toBe('2');
  });

  test('a handler that throws answers as ever, and is counted', async ({ start }) => {
    const client = await start();
    const responses = await inTurn(4, () => client.get('/throw'));
    expect(statuses(responses)).toEqual([500, 500, 500, 429]);
    expect(responses[0]?.headers.get('ratelimit-remaining')).toBe('2');
  });

  test('a streamed response arrives whole, with its headers', async ({ start }) => {
    const client = await start();
    const response = await client.get('/stream');
    expect(response.headers.get('ratelimit-remaining')).toBe('2');
    expect(await response.text()).toBe('onetwothree');
  });

  test('a path without a route is counted and limited', async ({ start }) => {
    const client = await start();
    let path = 0;
    const responses = await inTurn(4, () => client.get(`/nothing/${path++}`));
    expect(statuses(responses)).toEqual([404, 404, 404, 429]);
    expect(responses[0]?.headers.get('ratelimit-remaining')).toBe('2');
    expect((await client.get('/read')).status).toBe(429);
  });

  test('a store that is gone leaves a smaller local limit and no invented quota', async ({ start }) => {
    const client = await start({ limit: { limit: 8, window: '1m' }, store: redisStore('redis://127.0.0.1:1') });
    const responses = await inTurn(3, () => client.get('/read'));
    expect(statuses(responses)).toEqual([200, 200, 429]);
    for (const { headers } of responses)
      expect([...headers.keys()].filter((name) => name.includes('ratelimit'))).toEqual([]);
    expect(Number(responses[2]?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  });

  test('a policy that fails closed answers 503 while the store is gone', async ({ start }) => {
    const client = await start({ onStoreFailure: 'closed', store: redisStore('redis://127.0.0.1:1') });
    const response = await client.get('/read');
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('5');
    expect(await response.json()).toMatchObject({ error: 'rate_limit_unavailable' });
    expect((await client.get('/health')).status).toBe(200);
  });

  test('a concurrent burst is admitted exactly', async ({ start }) => {
    const client = await start({ limit: { limit: 10, window: '1m' } });
    const responses = await Promise.all(Array.from({ length: 40 }, () => client.get('/read')));
    expect(statuses(responses).filter((status) => status === 200)).toHaveLength(10);
    expect(statuses(responses).filter((status) => status === 429)).toHaveLength(30);
  });

  test('a request that has to wait for its turn is handled then, unless the client went away', async ({ start }) => {
    let handled = 0;
    const shaping = {
      algorithm: 'leaky-bucket',
      limit: 5,
      window: '1s',
      shape: { maxDelay: '1s' },
      per: 'ip',
    } as const;
    const client = await start({ limit: shaping, onRead: () => void handled++ });
    const gone = new AbortController();
    const first = await client.get('/read');
    const waiting = client.send('GET', '/read', {}, gone.signal);
    const next = client.get('/read');
    await new Promise((resolve) => setTimeout(resolve, 50));
    gone.abort();
    await expect(waiting).rejects.toThrow('aborted');
    expect(statuses([first, await next])).toEqual([200, 200]);
    expect(handled).toBe(2);
  });

  test('a policy that discloses nothing writes no quota', async ({ start }) => {
    const client = await start({ disclose: 'none' });
    const responses = await inTurn(4, () => client.get('/read'));
    expect(statuses(responses)).toEqual([200, 200, 200, 429]);
    for (const { headers } of responses) {
      expect([...headers.keys()].filter((name) => /ratelimit|retry-after/.test(name))).toEqual([]);
    }
    expect(await responses[3]?.json()).toEqual({ error: 'rate_limit_exceeded', message: 'Too many requests.' });
  });

  test('no header of a client causes an error', async ({ start }) => {
    const client = await start({ limit: { limit: 100, window: '1m' } });
    const values = ['', ' ', '__proto__', 'a'.repeat(8000), '{tag}', 'a:b,c', '%00', 'null', 'undefined', '\u00e9'];
    for (const value of values) {
      for (const name of ['x-api-key', 'authorization', 'user-agent', 'x-forwarded-for', 'forwarded']) {
        expect((await client.get('/read', { [name]: value })).status, `${name}: ${value.slice(0, 20)}`).toBe(200);
      }
    }
  });
}
