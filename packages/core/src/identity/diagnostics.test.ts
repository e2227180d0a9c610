import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RequestContext, ResponseFacts } from '../context.ts';
import { createLimiter, type Limiter } from '../limiter.ts';
import type { LimiterOptions } from '../limiter-options.ts';
import { definePolicy } from '../policy/define-policy.ts';
import { read } from '../policy/presets.ts';
import { memoryStore } from '../stores/memory-store.ts';
import type { Warning, WarningCode } from '../warnings.ts';
import { partition } from './partition.ts';

/** What hints at several instances, here or on the machine that runs the tests. */
const REPLICAS = ['WEB_CONCURRENCY', 'NODE_UNIQUE_ID', 'NODE_APP_INSTANCE', 'KUBERNETES_SERVICE_HOST', 'K_SERVICE'];
const PLATFORMS = ['AWS_LAMBDA_FUNCTION_NAME', 'FLY_ALLOC_ID', 'DYNO', 'VERCEL'];
beforeEach(() => {
  vi.stubEnv('NODE_ENV', 'development');
  for (const name of [...REPLICAS, ...PLATFORMS]) vi.stubEnv(name, undefined);
});
afterEach(() => void vi.unstubAllEnvs());

type Facts = Partial<RequestContext> & { readonly headers?: Readonly<Record<string, string>> };

function contextOf({ headers = {}, ...facts }: Facts = {}): RequestContext {
  const ctx = { method: 'GET', path: '/', route: undefined, ip: '127.0.0.1', user: undefined, raw: {}, ...facts };
  return { header: (name) => headers[name], ...ctx };
}

function bench(options: LimiterOptions = {}): { limiter: Limiter; said: WarningCode[] } {
  const said: WarningCode[] = [];
  const onWarning = ({ code }: Warning): void => void said.push(code);
  return { limiter: createLimiter({ store: memoryStore(), onWarning, ...options }), said };
}

const policy = read();
const send = (limiter: Limiter, facts?: Facts): void => void limiter.check(contextOf(facts), policy);

const xff = { 'x-forwarded-for': '203.0.113.7' };
const ignored = { ip: '10.0.0.1', peer: '10.0.0.1', headers: xff };

describe('signs of a wrong deployment', () => {
  it.each<[what: string, facts: Facts, codes: readonly WarningCode[]]>([
    ['a client without an address', { ip: undefined }, ['client-address-unknown']],
    ['an address that is none', { ip: 'garbage' }, ['client-address-unknown']],
    ['a forwarding header from a peer that is not trusted', ignored, ['forwarding-header-ignored']],
    ['the same from a public address', { ...ignored, ip: '8.8.8.8', peer: '8.8.8.8' }, ['forwarding-header-ignored']],
    ['the same, mapped', { ...ignored, peer: '::ffff:10.0.0.1' }, ['forwarding-header-ignored']],
    ['the same in RFC 7239', { ...ignored, headers: { forwarded: 'for=203.0.113.7' } }, ['forwarding-header-ignored']],
    ['the same, malformed', { ...ignored, headers: { forwarded: '"' } }, ['forwarding-header-ignored']],
    [
      'a proxy behind the one that is trusted',
      { ip: '10.0.0.2', peer: '10.0.0.1', headers: { 'x-forwarded-for': '203.0.113.7, 10.0.0.2' } },
      ['client-address-private'],
    ],
    [
      'a proxy that writes X-Real-IP, which nobody reads',
      { ip: '10.0.0.1', peer: '10.0.0.1', headers: { 'x-real-ip': '203.0.113.7' } },
      ['client-address-private'],
    ],
    ['a framework that trusts everybody', { proxyTrust: 'everything' }, ['trust-everything']],
    [
      'a number of hops that the framework ignores',
      { ...ignored, proxyTrust: 'ignored-hops' },
      ['forwarding-header-ignored', 'hop-count-ignored'],
    ],
  ])('%s: said once, counted each time', (_, facts, codes) => {
    const { limiter, said } = bench();
    for (let i = 0; i < 5; i++) send(limiter, facts);
    expect(said).toEqual(codes);
    expect([...limiter.warnings]).toEqual(codes.map((code) => [code, 5]));
  });

  it.each<[ip: string, isPrivate: boolean]>([
    ['10.0.0.1', true],
    ['127.0.0.1', true],
    ['::1', true],
    ['fd00::1', true],
    ['fe80::1%eth0', true],
    ['100.64.0.1', true],
    ['8.8.8.8', false],
    ['2600::1', false],
  ])('in production a private client is one: %s, %s', (ip, isPrivate) => {
    vi.stubEnv('NODE_ENV', 'production');
    const { limiter, said } = bench();
    send(limiter, { ip, peer: ip });
    expect(said).toEqual(isPrivate ? ['client-address-private'] : []);
  });

  it('names the setting, and never what the client sent', () => {
    const sentences: string[] = [];
    const limiter = createLimiter({ onWarning: ({ message }) => void sentences.push(message) });
    const headers = { 'x-forwarded-for': 'secret', 'user-agent': 'secret', 'x-api-key': 'secret' };
    send(limiter, { ...ignored, headers, path: '/secret' });
    send(limiter, { ip: 'secret', peer: 'secret', headers });
    expect(sentences).toHaveLength(2);
    expect(sentences.join('\n')).not.toContain('secret');
    expect(sentences[0]).toContain('x-forwarded-for from a peer that is not trusted (10.0.0.1)');
  });

  it('are looked for in all of the first requests, then in some', () => {
    const { limiter, said } = bench();
    for (let i = 0; i < 1000 + 640; i++) send(limiter, ignored);
    expect(said.filter((code) => code === 'forwarding-header-ignored')).toHaveLength(1);
    expect(limiter.warnings.get('forwarding-header-ignored')).toBe(1010);
  });

  it('are looked for again by each limiter', () => {
    for (const { limiter, said } of [bench(), bench()]) {
      send(limiter, ignored);
      expect(said).toEqual(['forwarding-header-ignored']);
    }
  });

  it('never break a decision, whatever the facts do', () => {
    const { limiter } = bench();
    const failing = new Error('no');
    const broken = contextOf({ headers: xff });
    Object.defineProperty(broken, 'user', {
      get: () => {
        throw failing;
      },
    });
    expect(limiter.check(broken, policy)).toMatchObject({ allowed: true });
  });
});

describe('no sign of a wrong deployment', () => {
  it.each<[what: string, env: 'development' | 'production', facts: Facts]>([
    ['development on loopback', 'development', { ip: '127.0.0.1', peer: '127.0.0.1' }],
    ['development on loopback, mapped', 'development', { ip: '::ffff:127.0.0.1', peer: '::ffff:127.0.0.1' }],
    ['development on IPv6', 'development', { ip: '::1', peer: '::1' }],
    ['development in a container', 'development', { ip: '172.17.0.1', peer: '172.17.0.1' }],
    [
      'a proxy on the own machine, and a browser on it as well',
      'development',
      { ip: '127.0.0.1', peer: '127.0.0.1', headers: { 'x-forwarded-for': '127.0.0.1', 'x-real-ip': '127.0.0.1' } },
    ],
    [
      'the same, mapped',
      'development',
      { ip: '127.0.0.1', peer: '::ffff:127.0.0.1', headers: { 'x-forwarded-for': '::ffff:127.0.0.1' } },
    ],
    [
      'the same in RFC 7239',
      'development',
      { ip: '127.0.0.1', peer: '127.0.0.1', headers: { forwarded: 'for="127.0.0.1:5";proto=http' } },
    ],
    ['a client of the internet, without a proxy', 'production', { ip: '8.8.8.8', peer: '8.8.8.8' }],
    ['a client of the internet, by IPv6', 'production', { ip: '2600::1', peer: '2600::1' }],
    ['a client behind a trusted proxy', 'production', { ip: '8.8.8.8', peer: '10.0.0.1', headers: xff }],
    [
      'a client that made up entries, behind a trusted proxy',
      'production',
      { ip: '8.8.8.8', peer: '10.0.0.1', headers: { 'x-forwarded-for': '6.6.6.6, 8.8.8.8' } },
    ],
    [
      'a proxy that writes two headers, behind a trusted one',
      'production',
      { ip: '8.8.8.8', peer: '10.0.0.1', headers: { 'x-forwarded-for': '8.8.8.8', 'x-real-ip': '8.8.8.8' } },
    ],
    ['where the peer cannot be known', 'production', { ip: '8.8.8.8', peer: undefined, headers: xff }],
    ['trust in named proxies', 'production', { ip: '8.8.8.8', peer: '10.0.0.1', headers: xff, proxyTrust: undefined }],
  ])('%s (%s)', (_, env, facts) => {
    vi.stubEnv('NODE_ENV', env);
    const { limiter, said } = bench();
    for (let i = 0; i < 100; i++) send(limiter, facts);
    expect(said).toEqual([]);
    expect(limiter.warnings.size).toBe(0);
  });
});

describe('one-partition', () => {
  /** @param others how many of 1000 requests come from clients of their own */
  function thousand(limiter: Limiter, others: number, facts: Facts = {}): void {
    const every = Math.floor(1000 / Math.max(1, others));
    for (let i = 0; i < 1000; i++) {
      const other = others > 0 && i % every === every - 1 && i / every < others;
      send(limiter, { peer: '8.8.8.8', ...facts, ip: other ? `9.9.${i >> 8}.${i & 255}` : '8.8.8.8' });
    }
  }

  it.each<[what: string, env: string, others: number, facts: Facts, warns: boolean]>([
    ['all requests come from one client', 'production', 0, {}, true],
    ['nearly all do', 'production', 30, {}, true],
    ['many come from one client', 'production', 100, {}, false],
    ['each is a client of its own', 'production', 1000, {}, false],
    ['a load test while developing', 'development', 0, {}, false],
    ['all come through one proxy while developing', 'development', 0, { peer: '10.0.0.1', headers: xff }, true],
  ])('%s (%s)', (_, env, others, facts, warns) => {
    vi.stubEnv('NODE_ENV', env);
    const { limiter } = bench();
    thousand(limiter, others, facts);
    expect(limiter.warnings.get('one-partition')).toBe(warns ? 1 : undefined);
  });

  it('is not said before a thousand requests were seen', () => {
    vi.stubEnv('NODE_ENV', 'production');
    const { limiter, said } = bench();
    for (let i = 0; i < 999; i++) send(limiter, { ip: '8.8.8.8' });
    expect(said).toEqual([]);
    send(limiter, { ip: '8.8.8.8' });
    expect(said).toEqual(['one-partition']);
  });

  it('goes by address, whatever the user agents and keys', () => {
    vi.stubEnv('NODE_ENV', 'production');
    const { limiter } = bench();
    for (let i = 0; i < 1000; i++) {
      send(limiter, { ip: '8.8.8.8', headers: { 'user-agent': `agent-${i}`, 'x-api-key': `key-${i}` } });
    }
    expect(limiter.warnings.get('one-partition')).toBe(1);
  });

  it('is said once and counted for each thousand of the sample', () => {
    vi.stubEnv('NODE_ENV', 'production');
    const { limiter, said } = bench();
    for (let i = 0; i < 1000 + 64_000; i++) send(limiter, { ip: '8.8.8.8' });
    expect(said).toEqual(['one-partition']);
    expect(limiter.warnings.get('one-partition')).toBe(2);
  });
});

describe('user-after-decision', () => {
  /** A request that has this user when it has been handled. */
  function handled(limiter: Limiter, after: unknown, facts: Facts = {}, by = policy): void {
    const finish: ((response: ResponseFacts) => void)[] = [];
    const ctx = {
      ...contextOf(facts),
      user: facts.user,
      onFinish: (listener: (response: ResponseFacts) => void) => void finish.push(listener),
    };
    void limiter.check(ctx, by);
    ctx.user = after;
    for (const listener of finish) listener({ status: 200, aborted: false, header: () => undefined });
  }

  const bearer = { authorization: 'Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln' };
  it.each<[what: string, after: unknown, facts: Facts, warns: boolean]>([
    ['a user that came later', { id: 7 }, {}, true],
    ['a user that came later, of an API that only posts', 'bob', { method: 'POST', headers: bearer }, true],
    ['a user that came later than an API key', 'bob', { headers: { 'x-api-key': 'k' } }, true],
    ['nobody, then and later', undefined, {}, false],
    ['something that is no user', { session: {} }, {}, false],
    ['a user that was there when it was decided', { id: 7 }, { user: { id: 7 } }, false],
    ['a login, which has its user when it succeeded', { id: 7 }, { method: 'POST' }, false],
  ])('%s', (_, after, facts, warns) => {
    const { limiter, said } = bench();
    for (let i = 0; i < 3; i++) handled(limiter, after, facts);
    expect(said).toEqual(warns ? ['user-after-decision'] : []);
    expect(limiter.warnings.get('user-after-decision')).toBe(warns ? 3 : undefined);
  });

  it('is not said where no limit is about users: one by address may well stand above authentication', () => {
    const { limiter, said } = bench();
    handled(limiter, { id: 7 }, {}, read({ name: 'flood', per: 'ip' }));
    expect(said).toEqual([]);
  });

  it('is not said where the application identifies the user itself', () => {
    const { limiter, said } = bench({ identify: () => 'bob' });
    handled(limiter, { id: 7 });
    expect(said).toEqual([]);
  });
});

describe('what the application answers', () => {
  it.each<[what: string, identify: () => unknown, code: WarningCode | undefined]>([
    ['an id', () => 'bob', undefined],
    ['a number', () => 0, undefined],
    ['a user', () => ({ id: 'bob' }), undefined],
    ['nobody', () => undefined, undefined],
    ['null', () => null, undefined],
    ['nobody, later', () => Promise.resolve(undefined), undefined],
    ['an empty id', () => '', 'identity-unusable'],
    ['an id that is no id', () => ({ id: {} }), 'identity-unusable'],
    ['a user without an id', () => ({ name: 'bob' }), 'identity-unusable'],
    ['NaN', () => Number.NaN, 'identity-unusable'],
    ['true', () => true, 'identity-unusable'],
    ['a list', () => ['bob'], 'identity-unusable'],
    ['an unusable id, later', () => Promise.resolve({}), 'identity-unusable'],
    [
      'an error',
      () => {
        throw new Error('no');
      },
      'resolver-failed',
    ],
    ['an error, later', () => Promise.reject(new Error('no')), 'resolver-failed'],
  ])('%s: %s', async (_, identify, code) => {
    const { limiter, said } = bench({ identify: identify as () => undefined });
    const kinds = [];
    for (let i = 0; i < 3; i++) kinds.push((await limiter.check(contextOf(), policy))?.identity.kind);
    expect(said).toEqual(code === undefined ? [] : [code]);
    if (code === undefined) return;
    // The next link of the chain counts, for this client alone.
    expect(kinds).toEqual(['ip+ua', 'ip+ua', 'ip+ua']);
    expect(limiter.warnings.get(code)).toBe(3);
  });

  it('a partition without a value is a warning, said once', () => {
    const { limiter, said } = bench();
    const tenants = definePolicy({
      name: 'tenants',
      limits: [{ limit: 5, window: '1m', per: partition('tenant', () => undefined) }],
    });
    for (let i = 0; i < 3; i++) void limiter.check(contextOf(), tenants);
    expect(said).toEqual(['partition-unresolved']);
    expect(limiter.warnings.get('partition-unresolved')).toBe(3);
  });
});

describe('how the limiter is made', () => {
  it.each([...REPLICAS, ...PLATFORMS])('a memory store where %s hints at several instances', (name) => {
    vi.stubEnv(name, '2');
    const { limiter, said } = bench();
    expect(said).toEqual(['memory-store-with-replicas']);
    send(limiter);
    expect(limiter.warnings.get('memory-store-with-replicas')).toBe(1);
  });

  it('a single worker, and a store that instances share, are no hint', () => {
    vi.stubEnv('WEB_CONCURRENCY', '1');
    expect(bench().said).toEqual([]);
    vi.stubEnv('KUBERNETES_SERVICE_HOST', '10.0.0.1');
    expect(bench({ store: { ...memoryStore(), name: 'redis' } }).said).toEqual([]);
  });

  it('a hundred limiters in one process: one is made for each request', () => {
    const host = globalThis as Record<symbol, unknown>;
    const CREATED = Symbol.for('tollgate.limiters');
    const before = host[CREATED];
    host[CREATED] = 0;
    const codes = Array.from({ length: 250 }, () => bench().said).flat();
    host[CREATED] = before;
    expect(codes).toEqual(['limiter-per-request']);
  });
});

describe('a limiter in production', () => {
  it('is to be told where to count', () => {
    vi.stubEnv('NODE_ENV', 'production');
    const said: WarningCode[] = [];
    createLimiter({ onWarning: ({ code }) => void said.push(code) });
    expect(said).toEqual(['memory-store-in-production']);
    expect(bench().said).toEqual([]);
  });
});

describe('a warning', () => {
  it('is printed once where nobody listens, with its page', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const limiter = createLimiter();
    for (let i = 0; i < 3; i++) send(limiter, ignored);
    expect(warn.mock.calls).toEqual([
      [expect.stringMatching(/^\[tollgate\] Requests carry .* \(docs\/errors\.md#forwarding-header-ignored\)$/)],
    ]);
    warn.mockRestore();
  });

  it('is counted whether the listener fails or not', () => {
    const onWarning = (): never => {
      throw new Error('no');
    };
    const limiter = createLimiter({ onWarning });
    for (let i = 0; i < 3; i++) send(limiter, ignored);
    expect(limiter.warnings.get('forwarding-header-ignored')).toBe(3);
  });
});
