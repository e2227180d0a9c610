import { Agent, get as httpGet } from 'node:http';
import { expect } from 'vitest';
import { type AdapterTest, remaining } from './adapter-bench.ts';
import { exchange, fieldsOf, openConnection, requestText, statusesOf } from './connection.ts';

const FIVE = { limit: { limit: 5, window: '1m' } } as const;
const AMPLE = { limit: { limit: 100, window: '1m' } } as const;
const READ = requestText('GET /read');
const LAST = requestText('GET /read', ['Connection: close']);

/** The cases of describeAdapter about connections: bursts on few of them, and clients that go away. */
export function connectionCases(test: AdapterTest): void {
  test('50 pipelined requests: the first five pass', async ({ start }) => {
    const client = await start(FIVE);
    const received = await exchange(client.url, ...Array<string>(49).fill(READ), LAST);
    expect(statusesOf(received)).toEqual([...Array<number>(5).fill(200), ...Array<number>(45).fill(429)]);
    expect(fieldsOf(received, 'ratelimit-remaining').slice(0, 6)).toEqual(['4', '3', '2', '1', '0', '0']);
  });

  test('50 requests at once over kept-alive connections: five pass', async ({ start }) => {
    const client = await start(FIVE);
    const agent = new Agent({ keepAlive: true, maxSockets: 4 });
    try {
      const all = await Promise.all(Array.from({ length: 50 }, () => statusOf(`${client.url}/read`, agent)));
      expect(all.filter((status) => status === 200)).toHaveLength(5);
      expect(all.filter((status) => status === 429)).toHaveLength(45);
    } finally {
      agent.destroy();
    }
  });

  test('many requests on one connection gather no listeners', async ({ start }) => {
    const shape = {
      algorithm: 'leaky-bucket',
      limit: 100,
      burst: 100,
      window: '1s',
      shape: { maxDelay: '1s' },
    } as const;
    const client = await start({ limit: shape, refundWhen: ({ status }) => status === 200 });
    // What a case leaves behind in the process fails it, a warning of too many listeners included.
    const received = await exchange(client.url, ...Array<string>(29).fill(READ), LAST);
    expect(statusesOf(received)).toEqual(Array<number>(30).fill(200));
  });

  test('a request that is aborted while it is handled is counted once', async ({ start }) => {
    const client = await start(AMPLE);
    const connections = Array.from({ length: 3 }, () => openConnection(client.url));
    for (const connection of connections) connection.write(requestText('GET /slow'));
    await client.gate.reached(3);
    for (const connection of connections) connection.leave();
    client.gate.open();
    await Promise.all(connections.map((connection) => connection.ended()));
    expect(await remaining(client)).toBe(96);
  });

  test('a client that goes away at once is counted', async ({ start }) => {
    let handled = 0;
    const client = await start({ ...AMPLE, onRead: () => void handled++ });
    for (let i = 0; i < 10; i++) {
      const connection = openConnection(client.url);
      connection.write(READ);
      connection.leave();
      await connection.ended();
    }
    await expect.poll(() => handled, { timeout: 4000 }).toBe(10);
    expect(await remaining(client)).toBe(89);
  });

  test('an answer that is cut off midway is counted once', async ({ start }) => {
    const client = await start(AMPLE);
    const connection = openConnection(client.url);
    connection.write(requestText('GET /early'));
    await connection.until(/one/);
    connection.leave();
    await connection.ended();
    client.gate.open();
    expect(await remaining(client)).toBe(98);
    expect(client.errors).toEqual([]);
  });

  test('HTTP/1.0 is answered and counted', async ({ start }) => {
    const client = await start();
    const received = await exchange(client.url, READ.replace('HTTP/1.1', 'HTTP/1.0'));
    expect(statusesOf(received)).toEqual([200]);
    expect(fieldsOf(received, 'ratelimit-remaining')).toEqual(['2']);
    expect(await remaining(client)).toBe(1);
  });

  test('a client that has sent its last byte is counted', async ({ start }) => {
    const client = await start();
    const connection = openConnection(client.url);
    connection.write(LAST);
    connection.finish();
    // Node answers such a client only at once: what is not ready by then is for nobody.
    expect([[200], []]).toContainEqual(statusesOf(await connection.ended()));
    expect(await remaining(client)).toBe(1);
  });

  test('headers as large as the server takes are no error, and larger ones are not counted', async ({ start }) => {
    const client = await start();
    const withHeader = (bytes: number): Promise<string> =>
      exchange(client.url, requestText('GET /read', [`X-Filler: ${'a'.repeat(bytes)}`, 'Connection: close']));
    expect(statusesOf(await withHeader(15_500))).toEqual([200]);
    expect(statusesOf(await withHeader(17_000))).toEqual([431]);
    expect(await remaining(client)).toBe(1);
  });
}

function statusOf(url: string, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpGet(url, { agent, headers: { 'user-agent': 'suite' } }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0));
    });
    request.once('error', reject);
  });
}
