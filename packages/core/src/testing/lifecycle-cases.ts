import { expect } from 'vitest';
import { type AdapterTest, inTurn, statuses } from './adapter-bench.ts';
import { openConnection, requestText, statusesOf } from './connection.ts';

/** The cases of describeAdapter about applications that start, stop, and are several. */
export function lifecycleCases(test: AdapterTest): void {
  test('two applications on one store share their budgets', async ({ start, createStore }) => {
    const store = createStore();
    const [one, two] = [await start({ store }), await start({ store })];
    await one.limiter.ready();
    const responses = [await one.get('/read'), await two.get('/read'), await one.get('/read'), await two.get('/read')];
    expect(statuses(responses)).toEqual([200, 200, 200, 429]);
  });

  test('an application that is closed answers the requests in flight', async ({ start }) => {
    const client = await start();
    const connection = openConnection(client.url);
    connection.write(requestText('GET /slow', ['Connection: close']));
    await client.gate.reached(1);
    const drained = client.app.drain();
    client.gate.open();
    const received = await connection.ended();
    expect(statusesOf(received)).toEqual([200]);
    expect(received.toLowerCase()).toContain('ratelimit-remaining: 2');
    await drained;
  });

  test('requests in flight are answered when the limiter is closed meanwhile', async ({ start }) => {
    const client = await start({ refundWhen: ({ status }) => status === 404 });
    const waiting = inTurn(1, () => client.get('/slow'));
    await client.gate.reached(1);
    await client.limiter.close();
    client.gate.open();
    const [response] = await waiting;
    expect([response?.status, response?.headers.get('ratelimit-remaining')]).toEqual([200, '2']);
  });

  test('requests after the limiter is closed are limited, and are no errors', async ({ start }) => {
    const client = await start({ limit: { limit: 8, window: '1m' } });
    await client.limiter.close();
    const responses = await inTurn(10, () => client.get('/read'));
    expect(new Set(statuses(responses))).toEqual(new Set([200, 429]));
    expect(statuses(responses)[0]).toBe(200);
    expect(client.errors).toEqual([]);
  });

  test('a request that waits for its turn is answered when the application is closed', async ({ start }) => {
    const shape = { algorithm: 'leaky-bucket', limit: 5, window: '1s', shape: { maxDelay: '1s' }, per: 'ip' } as const;
    const client = await start({ limit: shape });
    await client.get('/read');
    const connection = openConnection(client.url);
    connection.write(requestText('GET /slow', ['Connection: close']));
    client.gate.open();
    await client.get('/health');
    const drained = client.app.drain();
    expect(statusesOf(await connection.ended())).toEqual([200]);
    await drained;
  });
}
