import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { mkdtemp, rm } from 'node:fs/promises';
import { request, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createLimiter, definePolicy, rateLimit, type RateLimitOptions, read } from './index.ts';

const once = definePolicy({ name: 'once', limits: [{ limit: 1, window: '1m', per: 'ip' }] });

function createApp(options: RateLimitOptions = {}): Hono {
  return new Hono()
    .use(rateLimit(once, { limiter: createLimiter({ onWarning: () => {} }), ...options }))
    .get('/', (c) => c.text('ok')) as unknown as Hono;
}

describe('the address that a runtime tells', () => {
  type ToEnv = (address: string) => object;
  it.each<[runtime: string, toEnv: ToEnv]>([
    ['Node', (remoteAddress) => ({ incoming: { socket: { remoteAddress } } })],
    ['Node, among others', (remoteAddress) => ({ db: {}, server: { incoming: { socket: { remoteAddress } } } })],
    ['Bun', (address) => ({ requestIP: () => ({ address }) })],
    ['Bun, among others', (address) => ({ server: { requestIP: () => ({ address }) } })],
    ['Deno', (hostname) => ({ remoteAddr: { hostname } })],
  ])('%s', async (_, toEnv) => {
    const app = createApp();
    const statuses = [];
    for (const address of ['203.0.113.7', '::ffff:203.0.113.7', '203.0.113.8'])
      statuses.push((await app.request('/', {}, toEnv(address))).status);
    expect(statuses).toEqual([200, 429, 200]);
  });

  it.each<[what: string, env: object | undefined]>([
    ['no environment', undefined],
    ['a socket that is closed', { incoming: { socket: {} } }],
    ['a request that Bun did not make', { requestIP: () => null }],
    ["Deno's Unix socket", { remoteAddr: { transport: 'unix', path: '/run/app.sock' } }],
    ['bindings', { DB: {}, KEY: 'x' }],
  ])('is unknown where it tells none: %s', async (_, env) => {
    const app = createApp();
    expect([(await app.request('/', {}, env)).status, (await app.request('/', {}, env)).status]).toEqual([200, 429]);
  });
});

describe("the platform's header", () => {
  afterEach(() => vi.unstubAllGlobals());

  async function admitted(userAgent: string | undefined, options?: RateLimitOptions): Promise<number> {
    vi.stubGlobal('navigator', { userAgent });
    const app = createApp(options);
    let passed = 0;
    for (let i = 0; i < 5; i++) {
      const headers = { 'cf-connecting-ip': `203.0.113.${i}`, 'x-forwarded-for': `203.0.113.${i}` };
      const env = { incoming: { socket: { remoteAddress: '127.0.0.1' } } };
      if ((await app.request('/', { headers }, env)).status === 200) passed++;
    }
    return passed;
  }

  it('counts on Workers', async () => {
    expect(await admitted('Cloudflare-Workers')).toBe(5);
  });

  it.each(['Node.js/24', 'Bun/1.4.4', 'Deno/2.9.6', 'Mozilla/5.0 Cloudflare-Workers', '', undefined])(
    'is a header that a client chose on %s',
    async (userAgent) => {
      expect(await admitted(userAgent)).toBe(1);
    },
  );

  it('counts elsewhere only from whom the application trusts', async () => {
    const header = 'cf-connecting-ip';
    expect(await admitted('Node.js/24', { trustProxy: '10.0.0.0/8', header })).toBe(1);
    expect(await admitted('Node.js/24', { trustProxy: 'loopback', header })).toBe(5);
  });
});

describe('a server on a Unix socket', () => {
  /** Sends two clients' requests over the socket, as a proxy on the same machine would. */
  async function statuses(options: RateLimitOptions, prefix = ''): Promise<number[]> {
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-'));
    const socketPath = join(folder, 'app.sock');
    const server = createAdaptorServer(createApp(options)) as Server;
    await new Promise<void>((resolve) => void server.listen(socketPath, resolve));
    try {
      const seen = [];
      for (const client of ['203.0.113.7', '203.0.113.7', '203.0.113.8']) {
        seen.push(
          await new Promise<number>((resolve, reject) => {
            const headers = { 'x-forwarded-for': prefix + client };
            request({ socketPath, headers, agent: false }, (response) => {
              response.resume().once('end', () => resolve(response.statusCode ?? 0));
            })
              .once('error', reject)
              .end();
          }),
        );
      }
      return seen;
    } finally {
      await new Promise((resolve) => void server.close(resolve));
      await rm(folder, { recursive: true });
    }
  }

  it('has clients, since whoever connects is the proxy', async () => {
    const trustProxy = { hops: 1, originUnreachable: true } as const;
    expect(await statuses({ trustProxy })).toEqual([200, 429, 200]);
    expect(await statuses({ trustProxy }, '6.6.6.6, ')).toEqual([200, 429, 200]);
  });

  it('has one unknown client where that is not said', async () => {
    expect(await statuses({})).toEqual([200, 429, 429]);
    expect(await statuses({ trustProxy: 'loopback' })).toEqual([200, 429, 429]);
  });
});

describe('the options', () => {
  const clientIp = (): string => '203.0.113.7';
  it.each<[options: object, message: string]>([
    [
      { clientIp, trustProxy: 'loopback' },
      'rateLimit.trustProxy must be left out beside clientIp, which would be asked in its place.',
    ],
    [
      { clientIp, header: 'x-real-ip' },
      'rateLimit.header must be left out beside clientIp, which would be asked in its place.',
    ],
    [{ clientIp, trustProxy: null }, 'rateLimit.trustProxy must be left out beside clientIp'],
    [{ clientIp: 'cf-connecting-ip' }, 'rateLimit.clientIp must be a function; received "cf-connecting-ip".'],
    [{ clientIp: null }, 'rateLimit.clientIp must be a function; received null.'],
  ])('%o is refused', (options, message) => {
    expect(() => rateLimit(read(), options)).toThrow(message);
  });

  it('what is undefined is left out', () => {
    expect(() => rateLimit(read(), { clientIp, trustProxy: undefined, header: undefined } as object)).not.toThrow();
  });
});
