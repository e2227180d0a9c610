// oxlint-disable no-await-in-loop -- a limit is seen by requests that come one after the other
import { afterEach, describe, expect, it } from 'vitest';

interface RunningApp {
  fetch(request: Request): Promise<Response>;
  close(): Promise<void>;
}

/** What the examples have in common, whatever the framework: the same shop with the same limits. script.test.ts compares them. */
export function describeExample(framework: string, start: () => Promise<RunningApp>): void {
  describe(`the ${framework} example`, () => {
    let app: RunningApp | undefined;
    afterEach(async () => {
      await app?.close();
      app = undefined;
    });

    async function send(method: string, path: string, body?: object): Promise<Response> {
      app ??= await start();
      const json = body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
      return app.fetch(new Request(`http://example.test${path}`, { method, ...json }));
    }

    async function statuses(times: number, ...request: Parameters<typeof send>): Promise<number[]> {
      const answers: number[] = [];
      for (let i = 0; i < times; i++) answers.push((await send(...request)).status);
      return answers;
    }

    it('counts a caller down from 1000', async () => {
      for (const [path, left] of [
        ['/', 999],
        ['/products', 998],
        ['/products/1', 997],
      ] as const) {
        const response = await send('GET', path);
        expect(response.status).toBe(200);
        expect(response.headers.get('ratelimit-policy')).toBe('"read";q=1000;w=60');
        expect(response.headers.get('ratelimit-remaining')).toBe(String(left));
      }
      expect(await (await send('GET', '/')).json()).toMatchObject({ remaining: 996 });
    });

    it('stops the sixth attempt at one account', async () => {
      const guess = { email: 'ada@example.com', password: 'guess' };
      expect(await statuses(6, 'POST', '/login', guess)).toEqual([401, 401, 401, 401, 401, 429]);
    });

    it('stops the seventh search', async () => {
      expect(await statuses(7, 'POST', '/search', { query: 'desk' })).toEqual([200, 200, 200, 200, 200, 200, 429]);
    });

    it('never counts its health check', async () => {
      expect(await statuses(3, 'GET', '/health')).toEqual([200, 200, 200]);
      const response = await send('GET', '/health');
      expect([...response.headers.keys()].filter((name) => name.includes('ratelimit'))).toEqual([]);
      expect((await send('GET', '/')).headers.get('ratelimit-remaining')).toBe('999');
    });

    it.each([
      { what: 'malformed JSON', method: 'POST', path: '/login', body: '{"email":', status: 400 },
      { what: 'an unknown path', method: 'GET', path: '/nothing', body: null, status: 404 },
    ])('answers $what with JSON', async ({ method, path, body, status }) => {
      app = await start();
      const headers = { 'content-type': 'application/json' };
      const response = await app.fetch(new Request(`http://example.test${path}`, { method, headers, body }));
      expect(response.status).toBe(status);
      expect(await response.json()).toBeTypeOf('object');
    });
  });
}
