import { expect } from 'vitest';
import type { AdapterTest } from './adapter-bench.ts';
import { openConnection } from './connection.ts';
import { getAll, PING_ACK, resetStreams } from './http2.ts';

/** The cases of describeAdapter over HTTP/2, where one packet can hold many requests. */
export function http2Cases(test: AdapterTest): void {
  test('50 streams at once over HTTP/2: five pass', async ({ start }) => {
    const client = await start({ http2: true, limit: { limit: 5, window: '1m' } });
    const answers = await getAll(client.url, Array<string>(50).fill('/read'));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(45);
  });

  test('a denial over HTTP/2 says the same as over HTTP/1.1', async ({ start }) => {
    const client = await start({ http2: true, limit: { limit: 1, window: '1m' } });
    const [passed] = await getAll(client.url, ['/read']);
    expect([passed?.status, passed?.headers['ratelimit-remaining'], passed?.body]).toEqual([
      200,
      '0',
      '{"remaining":0}',
    ]);
    const [denied] = await getAll(client.url, ['/read']);
    expect([denied?.status, denied?.headers['cache-control']]).toEqual([429, 'no-store']);
    expect(denied?.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    expect(JSON.parse(denied?.body ?? '')).toMatchObject({ error: 'rate_limit_exceeded' });
  });

  test('200 streams that are reset at once over HTTP/2 are counted, and leave nothing behind', async ({ start }) => {
    const client = await start({ http2: true, limit: { limit: 1000, window: '1m' } });
    const connection = openConnection(client.url);
    connection.write(resetStreams('/read', 200));
    await connection.until(PING_ACK);
    const [answer] = await getAll(client.url, ['/read']);
    connection.leave();
    expect([answer?.status, answer?.headers['ratelimit-remaining']]).toEqual([200, '799']);
  });
}
