import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RUNTIMES, runtimes } from './runtimes.ts';
import { type ServedApp, serveApp } from './served.ts';

for (const name of RUNTIMES) {
  const missing = runtimes[name].binary() === undefined;
  const reason = missing ? ' (skipped: its binary could not be installed, or there is none for this platform)' : '';
  describe.skipIf(missing)(`Hono on ${name}${reason}`, () => {
    const { headers, always } = runtimes[name];
    let app: ServedApp;
    beforeAll(async () => {
      app = await serveApp(name);
    });
    afterAll(() => app?.close());

    const get = (path: string, sent: Record<string, string> = {}): Promise<Response> =>
      fetch(app.url + path, { headers: { ...always, ...sent } });

    async function statuses(path: string, all: readonly Record<string, string>[]): Promise<number[]> {
      const seen = [];
      for (const sent of all) seen.push((await get(path, sent)).status);
      return seen;
    }

    it('admits to the limit, and tells what is left and when to come back', async () => {
      const responses = [];
      for (let i = 0; i < 4; i++) responses.push(await get('/direct'));
      expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
      expect(await responses[0]?.json()).toEqual({ remaining: 2 });
      expect(responses[2]?.headers.get('ratelimit-policy')).toBe('"direct";q=3;w=60');
      expect(responses[2]?.headers.get('ratelimit-remaining')).toBe('0');
      expect(Number(responses[3]?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(await responses[3]?.json()).toMatchObject({ error: 'rate_limit_exceeded' });
    });

    it('knows its clients', async () => {
      const { client } = headers;
      const from = (address: string) => ({ [client]: address });
      const all = ['203.0.113.1', '203.0.113.1', '203.0.113.2', '2001:db8::1', '2001:db8::2'].map(from);
      expect(await statuses('/proxied', all)).toEqual([200, 429, 200, 200, 429]);
    });

    it('does not take the word of a client for it', async () => {
      const { client, forged } = headers;
      const all = [1, 2, 3].map((i) => ({ [client]: '203.0.113.77', [forged]: `6.6.6.${i}` }));
      expect(await statuses('/proxied', all)).toEqual([200, 429, 429]);
    });

    it('writes its headers onto what another server answered', async () => {
      const response = await get('/fetched');
      expect([response.status, await response.text()]).toEqual([200, 'ok']);
      expect(response.headers.get('ratelimit-limit')).toBe('1000');
    });

    it('writes them onto streams, exceptions and what is not there', async () => {
      const answers = [];
      for (const path of ['/stream', '/refused', '/nothing']) {
        const response = await get(path);
        expect(response.headers.get('ratelimit-limit')).toBe('1000');
        answers.push([response.status, await response.text()]);
      }
      expect(answers).toEqual([
        [200, 'onetwothree'],
        [403, 'no'],
        [404, '404 Not Found'],
      ]);
    });

    it('lets a WebSocket through', async () => {
      const handshake = request(`${app.url}/socket`, {
        headers: {
          ...always,
          'connection': 'Upgrade',
          'upgrade': 'websocket',
          'sec-websocket-version': '13',
          'sec-websocket-key': randomBytes(16).toString('base64'),
        },
      }).end();
      const [response, socket] = (await once(handshake, 'upgrade')) as [IncomingMessage, Socket];
      expect(response.statusCode).toBe(101);
      // RFC 6455 §5.2: a whole text of two bytes, masked with zeros; what comes back is not masked.
      socket.write(Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69]));
      const [frame] = (await once(socket, 'data')) as [Buffer];
      expect(frame).toEqual(Buffer.from([0x81, 0x02, 0x68, 0x69]));
      socket.destroy();
    });

    it('has said nothing but where it listens: no warning, and no error', () => {
      expect(app.output()).toMatch(/^.*(127\.0\.0\.1|"listen").*\n$/);
    });
  });
}
