import { expect } from 'vitest';
import { type AdapterTest, type Client, inTurn, remaining, statuses } from './adapter-bench.ts';
import { exchange, fieldsOf, openConnection, requestText, statusesOf } from './connection.ts';

const AMPLE = { limit: { limit: 100, window: '1m' } } as const;
const JSON_OF = (length: number): string[] => ['Content-Type: application/json', `Content-Length: ${length}`];

/** The cases of describeAdapter about requests with a body. `POST /echo` answers its JSON body. */
export function bodyCases(test: AdapterTest): void {
  test('a body reaches the handler, and is counted once', async ({ start }) => {
    const client = await start();
    const response = await client.post('/echo', { text: 'héllo', list: [1, 2] });
    expect([response.status, await response.json()]).toEqual([200, { text: 'héllo', list: [1, 2] }]);
    expect(response.headers.get('ratelimit-remaining')).toBe('2');
    expect(await remaining(client)).toBe(1);
  });

  test('a body in chunks reaches the handler, and is counted once', async ({ start }) => {
    const client = await start();
    const lines = ['Content-Type: application/json', 'Transfer-Encoding: chunked', 'Connection: close'];
    const received = await exchange(
      client.url,
      `${requestText('POST /echo', lines)}4\r\n{"a"\r\n3\r\n:1}\r\n0\r\n\r\n`,
    );
    expect(received).toContain('{"a":1}');
    expect(await remaining(client)).toBe(1);
  });

  test('a malformed body is refused, and counted once', async ({ start }) => {
    const client = await start(AMPLE);
    const lines = [...JSON_OF(5), 'Connection: close'];
    const received = await exchange(client.url, `${requestText('POST /echo', lines)}{"a":`);
    expect(statusesOf(received)).toEqual([400]);
    expect(await remaining(client)).toBe(98);
  });

  test('a body that is too large is refused, and counted once', async ({ start }) => {
    const client = await start(AMPLE);
    const response = await client.post('/echo', 'a'.repeat(200_000));
    expect(response.status).toBe(413);
    await response.text();
    expect(await remaining(client)).toBe(98);
  });

  test('over the limit, a body is not waited for', async ({ start }) => {
    const client = await start();
    await inTurn(3, () => client.get('/read'));
    const connection = openConnection(client.url);
    connection.write(requestText('POST /echo', JSON_OF(100_000_000)));
    const received = await connection.until(/rate_limit_exceeded/);
    connection.leave();
    expect(statusesOf(received)).toEqual([429]);
    expect(fieldsOf(received, 'retry-after')).toHaveLength(1);
  });

  test('a body that never comes is counted once', async ({ start }) => {
    const client = await start(AMPLE);
    const connection = openConnection(client.url);
    connection.write(`${requestText('POST /echo', JSON_OF(1000))}{"a":`);
    await untilSeen(client);
    connection.leave();
    await connection.ended();
    expect(await remaining(client)).toBe(97);
    expect((await client.post('/echo', {})).status).toBe(200);
  });

  test('what asks before it sends its body is counted once', async ({ start }) => {
    const client = await start();
    const connection = openConnection(client.url);
    connection.write(requestText('POST /echo', [...JSON_OF(7), 'Expect: 100-continue', 'Connection: close']));
    await connection.until(/100 Continue/);
    connection.write('{"a":1}');
    expect(statusesOf(await connection.ended())).toEqual([100, 200]);
    expect(await remaining(client)).toBe(1);
  });

  test('the body of a denied request is not taken for a request', async ({ start }) => {
    const client = await start({ limit: { limit: 1, window: '1m' } });
    await client.get('/read');
    const smuggled = requestText('GET /health');
    const received = await exchange(
      client.url,
      requestText('POST /echo', [], smuggled),
      requestText('GET /read', ['Connection: close']),
    );
    // Nest refuses the body before its guard runs; a server may also end the connection and never see what follows.
    expect([[429, 429], [429], [400, 429], [400]]).toContainEqual(statusesOf(received));
    expect(received).not.toContain('"ok"');
  });

  test('a denied HEAD leaves the connection in order', async ({ start }) => {
    const client = await start({ limit: { limit: 1, window: '1m' } });
    await client.get('/read');
    const received = await exchange(
      client.url,
      requestText('HEAD /read'),
      requestText('GET /health', ['Connection: close']),
    );
    expect(statusesOf(received)).toEqual([429, 200]);
    expect(received).not.toContain('rate_limit_exceeded');
    expect(received).toContain('"ok"');
  });

  test('a denied request does not reach its handler', async ({ start }) => {
    let handled = 0;
    const client = await start({ onRead: () => void handled++ });
    expect(statuses(await inTurn(6, () => client.get('/read')))).toEqual([200, 200, 200, 429, 429, 429]);
    expect(handled).toBe(3);
  });
}

/** A request that was written before one on another connection has been read when that is answered, or soon after. */
async function untilSeen(client: Client): Promise<void> {
  await client.get('/read');
}
