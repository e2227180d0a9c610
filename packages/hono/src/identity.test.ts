import { createAdaptorServer } from '@hono/node-server';
import { describeIdentity, overHttp, type RunningApp } from '@tollgate/core/testing';
import { Hono, type MiddlewareHandler } from 'hono';
import type { Server } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { createLimiter, rateLimit, type RateLimitOptions, read, type Warning } from './index.ts';

const serve = (app: Hono): Promise<RunningApp> => overHttp(createAdaptorServer(app) as Server);

describeIdentity({
  name: 'hono on node',
  async create({ limiter, policy, trust, header }) {
    const app = new Hono();
    app.use(rateLimit(policy, { limiter, ...(trust !== undefined && { trustProxy: trust, header }) }));
    app.get('/', (c) => c.text('ok'));
    return serve(app);
  },
});

describe('the deployment of an application on Hono', () => {
  let served: RunningApp | undefined;
  afterEach(() => served?.close());

  /** What is said of five requests. */
  async function said(
    options: RateLimitOptions,
    headers: Record<string, string> = {},
    setUp: (app: Hono, limit: MiddlewareHandler) => unknown = (app, limit) => app.use(limit),
    method = 'GET',
  ): Promise<[code: string, times: number][]> {
    const warnings: Warning[] = [];
    const limiter = createLimiter({ onWarning: (warning) => void warnings.push(warning) });
    const app = new Hono();
    setUp(app, rateLimit(read(), { limiter, ...options }));
    app.all('/', (c) => c.text('ok'));
    served = await serve(app);
    for (let i = 0; i < 5; i++) await (await served.fetch(new Request('http://app.test/', { headers, method }))).text();
    expect(warnings.map(({ code }) => code)).toEqual([...limiter.warnings.keys()]);
    return [...limiter.warnings];
  }

  const xff = { 'x-forwarded-for': '203.0.113.7' };
  const forwarded = { forwarded: 'for=203.0.113.7' };
  const hops = { hops: 1, originUnreachable: true } as const;
  it.each<[options: RateLimitOptions, headers: Record<string, string>, codes: readonly string[]]>([
    [{}, {}, []],
    [{}, xff, ['forwarding-header-ignored']],
    [{}, forwarded, ['forwarding-header-ignored']],
    [{ trustProxy: '10.0.0.0/8' }, xff, ['forwarding-header-ignored']],
    [{ trustProxy: 'loopback' }, xff, []],
    [{ trustProxy: ['127.0.0.1', '10.0.0.0/8'] }, { 'x-forwarded-for': '6.6.6.6, 203.0.113.7, 10.0.0.1' }, []],
    [{ trustProxy: hops }, xff, []],
    [{ trustProxy: 'loopback', header: 'forwarded' }, forwarded, []],
    [{ trustProxy: 'loopback', header: 'forwarded' }, { ...forwarded, ...xff }, []],
    [{ trustProxy: 'loopback', header: 'cf-connecting-ip' }, { 'cf-connecting-ip': '203.0.113.7', ...xff }, []],
    // Trusted, and it writes another header than the one that is read.
    [{ trustProxy: 'loopback', header: 'forwarded' }, xff, ['forwarding-header-ignored']],
    [{ trustProxy: 'loopback' }, forwarded, ['forwarding-header-ignored']],
    [{ trustProxy: 'loopback' }, { 'x-real-ip': '203.0.113.7' }, ['client-address-private']],
    // A browser and a proxy on one machine.
    [{ trustProxy: 'loopback' }, { 'x-forwarded-for': '127.0.0.1' }, []],
    [{ trustProxy: 'loopback' }, { 'x-forwarded-for': 'garbage' }, ['client-address-unknown']],
    [{ trustProxy: 'loopback' }, { 'x-forwarded-for': '203.0.113.7, 10.0.0.2' }, ['client-address-private']],
    [{ clientIp: () => undefined }, {}, ['client-address-unknown']],
    [{ clientIp: () => '203.0.113.7' }, xff, []],
  ])('%o, %o', async (options, headers, codes) => {
    expect(await said(options, headers)).toEqual(codes.map((code) => [code, 5]));
  });

  const signIn: MiddlewareHandler = async (c, next) => {
    c.set('user', { id: 7 });
    await next();
  };

  it('a limiter above the authentication never sees a user', async () => {
    const above = (app: Hono, limit: MiddlewareHandler): unknown => app.use(limit, signIn);
    expect(await said({}, {}, above)).toEqual([['user-after-decision', 5]]);
    await served?.close();
    expect(await said({}, {}, above, 'POST')).toEqual([]);
  });

  it('one below it does', async () => {
    expect(await said({}, {}, (app, limit) => app.use(signIn, limit))).toEqual([]);
  });
});
