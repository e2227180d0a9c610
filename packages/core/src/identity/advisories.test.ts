// What other products got wrong, a case for each: the same mistake here would fail the case of its name.
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { RequestContext } from '../context.ts';
import type { Decision } from '../decision.ts';
import { createLimiter, type Limiter } from '../limiter.ts';
import type { LimiterOptions } from '../limiter-options.ts';
import { definePolicy } from '../policy/define-policy.ts';
import type { LimitOptions, Policy, PolicyOptions } from '../policy/policy.ts';
import { memoryStore } from '../stores/memory-store.ts';
import { createClock } from '../testing/index.ts';
import { parseAddress } from './address.ts';
import { createClientIp, type TrustProxy } from './trusted-proxy.ts';
import { username } from './username.ts';

afterEach(() => void vi.unstubAllEnvs());

type Facts = Partial<RequestContext<Body>> & { readonly headers?: Readonly<Record<string, string>> };
interface Body {
  readonly email?: unknown;
  readonly requests?: number;
}

function contextOf({ headers = {}, raw = {}, ...facts }: Facts): RequestContext<Body> {
  const ctx = { method: 'GET', path: '/', route: undefined, ip: '203.0.113.7', user: undefined, ...facts };
  // A request of its own: one that comes twice is charged once.
  return { header: (name) => headers[name], raw: { ...raw }, ...ctx };
}

function policyOf(limits: LimitOptions<Body>[], options: Partial<PolicyOptions<Body>> = {}): Policy<Body> {
  return definePolicy({ name: 'p', ...options, limits });
}

const perIp = (limit: number): LimitOptions<Body> => ({ limit, window: '1m', per: 'ip' });
const byName = username<Body>((req) => req.email);

function limiterWith(options: LimiterOptions = {}): Limiter {
  return createLimiter({ store: memoryStore({ now: createClock() }), onWarning: () => {}, ...options });
}

/** Which of these requests pass. */
function passing(policy: Policy<Body>, requests: readonly Facts[], limiter = limiterWith()): boolean[] {
  return requests.map((facts) => (limiter.check(contextOf(facts), policy) as Decision).allowed);
}

/** The client behind trusted proxies, by X-Forwarded-For. */
function clientOf(trustProxy: TrustProxy, peer: string, header: string): string | undefined {
  return createClientIp({ trustProxy }, 'test')(peer, () => header);
}

describe('who the client is', () => {
  it('CVE-2026-30827: IPv4 clients of a dual-stack server are not one network of IPv6', () => {
    const clients = Array.from({ length: 20 }, (_, i) => ({ ip: `::ffff:203.0.113.${i}` }));
    expect(passing(policyOf([perIp(1)]), clients)).not.toContain(false);
  });

  it('GHSA-5847-rm3g-23mw: a client has no second budget under its mapped address', () => {
    const spellings = ['1.2.3.4', '::ffff:1.2.3.4', '::FFFF:102:304', '0:0:0:0:0:ffff:1.2.3.4'];
    expect(
      passing(
        policyOf([perIp(1)]),
        spellings.map((ip) => ({ ip })),
      ),
    ).toEqual([true, false, false, false]);
  });

  it.each(['CVE-2026-90711 (proxy-addr)', 'CVE-2026-92395 (@fastify/proxy-addr)'])(
    '%s: a network of mapped addresses that is all of IPv4 is no network of proxies',
    () => {
      for (const network of ['::ffff:10.0.0.0/8', '::ffff:0:0/96', '::FFFF:10.0.0.0/95'])
        expect(() => clientOf(network, '6.6.6.6', '1.2.3.4')).toThrow('with a prefix above 96');
      expect(clientOf('::ffff:10.0.0.0/104', '6.6.6.6', '1.2.3.4')).toBe('6.6.6.6');
    },
  );

  it('CVE-2026-121192: a proxy on one interface is not the machine of that address on another', () => {
    expect(clientOf('fe80::1%eth0', 'fe80::1%eth1', '6.6.6.6')).toBe('fe80::1%eth1');
    expect(clientOf('fe80::1%eth0', 'fe80::1%eth0', '1.2.3.4')).toBe('1.2.3.4');
  });

  it('CVE-2026-39409: a mapped peer is matched as the IPv4 address that it is', () => {
    expect(clientOf('127.0.0.1', '::ffff:127.0.0.1', '1.2.3.4')).toBe('1.2.3.4');
    expect(clientOf('127.0.0.0/8', '::ffff:7f00:1', '1.2.3.4')).toBe('1.2.3.4');
  });

  it.each(['CVE-2026-27700 (hono on AWS ALB)', 'CVE-2026-110723 (leftmost by default)', 'CVE-2024-34451 (Ghost)'])(
    '%s: the last entry is the one that the proxy wrote',
    () => {
      const seen = Array.from({ length: 10 }, (_, i) => clientOf('10.0.0.1', '10.0.0.1', `6.6.6.${i}, 1.2.3.4`));
      expect(new Set(seen)).toEqual(new Set(['1.2.3.4']));
    },
  );

  it.each(['CVE-2026-108162 (Pingvin Share X)', 'CVE-2026-107271 (Gophish)'])(
    '%s: nobody is believed who is not trusted',
    () => {
      expect(createClientIp({}, 'test')('203.0.113.7', () => '6.6.6.6')).toBe('203.0.113.7');
      expect(clientOf('10.0.0.1', '203.0.113.7', '6.6.6.6')).toBe('203.0.113.7');
    },
  );

  it.each(['CVE-2026-129953 (NodePress, trustProxy: true)', 'CVE-2026-11922 (zenml, --forwarded-allow-ips *)'])(
    '%s: trusting everybody is refused, or said where the framework does',
    () => {
      for (const everybody of [true, '*', '0.0.0.0/0', '::/0', { hops: 1 }])
        expect(() => clientOf(everybody as TrustProxy, '6.6.6.6', '1.2.3.4')).toThrow('trustProxy');
      const limiter = limiterWith();
      passing(policyOf([perIp(9)]), [{ proxyTrust: 'everything' }], limiter);
      expect([...limiter.warnings.keys()]).toEqual(['trust-everything']);
    },
  );

  it('CVE-2026-134807: rotating entries evades nothing, and forging the address of another one does it no harm', () => {
    const through = (header: string): Facts => {
      const ip = clientOf('10.0.0.1', '10.0.0.1', header);
      return { ip };
    };
    const attacker = Array.from({ length: 5 }, (_, i) => through(`203.0.113.7, 6.6.6.${i}, 198.51.100.66`));
    expect(passing(policyOf([perIp(2)]), [...attacker, through('203.0.113.7')])).toEqual([
      true,
      true,
      false,
      false,
      false,
      // The victim's first.
      true,
    ]);
  });

  it.each(['CVE-2026-69192', 'CVE-2026-54272', 'CVE-2026-101913'])(
    '%s: what parsers disagree about is no address, and ranges are whole',
    () => {
      for (const raw of ['010.0.0.1', '0x7f.1', '127.1', '2130706433', '::ffff:010.0.0.1'])
        expect(parseAddress(raw)).toBeUndefined();
      expect(clientOf('linklocal', 'febf::1', '1.2.3.4')).toBe('1.2.3.4');
      // Behind NAT64 each IPv4 client is one of its own.
      const clients = Array.from({ length: 5 }, (_, i) => ({ ip: `64:ff9b::203.0.113.${i}` }));
      expect(passing(policyOf([perIp(1)]), clients)).not.toContain(false);
    },
  );

  it.each(['CVE-2026-135165 (CISO Assistant)', 'CVE-2026-61609 (Pterodactyl)'])(
    '%s: it is said when the front end is taken for the client of everybody',
    () => {
      vi.stubEnv('NODE_ENV', 'production');
      const limiter = limiterWith();
      const frontEnd = { ip: '10.0.0.1', peer: '10.0.0.1', headers: { 'x-forwarded-for': '1.2.3.4' } };
      passing(
        policyOf([perIp(5)]),
        Array.from({ length: 1000 }, () => frontEnd),
        limiter,
      );
      expect([...limiter.warnings.keys()]).toEqual(['forwarding-header-ignored', 'one-partition']);
    },
  );
});

describe('what a request is', () => {
  const perRoute = (limit: number): LimitOptions<Body> => ({ limit, window: '1m', per: ['ip', 'route'] });

  it.each([
    ['CVE-2025-71399 (better-auth)', ['/sign-in/email', '//sign-in/email', '/sign-in//email']],
    ['CVE-2023-38507 (Strapi)', ['/admin/login', '/admin/Login', '/admin/login/']],
  ])('%s: a route is its pattern, however the path is spelt', (_, paths) => {
    const requests = paths.map((path) => ({ path, route: '/:section/:form' }));
    expect(passing(policyOf([perRoute(1)]), requests)).toEqual([true, false, false]);
  });

  it('CVE-2026-28461: a query string makes no counter, nor does a random path', () => {
    const store = memoryStore();
    const limiter = createLimiter({ store, onWarning: () => {} });
    const requests = Array.from({ length: 1000 }, (_, i) => ({ path: `/nothing/${i}` }));
    passing(policyOf([perRoute(2000), { ...perIp(2000) }]), requests, limiter);
    expect(store.size).toBe(2);
  });

  it('GHSA-rq42-58qf-v3qx (LibreNMS): every method counts', () => {
    const methods = ['POST', 'GET', 'HEAD', 'PUT', 'OPTIONS', 'PROPFIND'];
    const requests = methods.map((method) => ({ method, route: '/login' }));
    expect(passing(policyOf([perRoute(1)]), requests)).toEqual([true, false, false, false, false, false]);
  });

  it('CVE-2025-64526 (Strapi): a field that is fresh with each request leaves the limit of the address', () => {
    const policy = policyOf([{ limit: 5, window: '1m', per: ['ip', byName] }, perIp(3)]);
    const requests = Array.from({ length: 5 }, (_, i) => ({ raw: { email: `user-${i}@ex.com` } }));
    expect(passing(policy, requests)).toEqual([true, true, true, false, false]);
    // And one that is not in the body is none.
    expect(passing(policyOf([{ limit: 1, window: '1m', per: byName }]), [{}, {}])).toEqual([true, false]);
  });

  it.each(['CVE-2026-30972 (Parse Server, /batch)', 'CVE-2026-35441 (GraphQL aliases)'])(
    '%s: a request costs what it does',
    () => {
      const policy = policyOf([perIp(10)], { cost: (req) => req.requests ?? 1 });
      const requests = [{ raw: { requests: 8 } }, { raw: { requests: 8 } }, { raw: { requests: 2 } }];
      expect(passing(policy, requests)).toEqual([true, false, true]);
      // A number that is none is the whole limit, and no free pass.
      expect(passing(policy, [{ raw: { requests: -5 } }, {}])).toEqual([true, false]);
      expect(passing(policy, [{ raw: { requests: Number.NaN } }, {}])).toEqual([true, false]);
    },
  );

  it('GHSA-q67h-5pc3-g6jv (eLabFTW): a cookie is nobody', () => {
    const requests = Array.from({ length: 3 }, (_, i) => ({ headers: { cookie: `session=${i}; device=${i}` } }));
    expect(passing(policyOf([{ limit: 1, window: '1m' }]), requests)).toEqual([true, false, false]);
  });

  it('GHSA-c55g-q6f4-5qxr (rubygems.org): an account is limited, wherever the attempts come from', () => {
    const policy = policyOf([perIp(5), { limit: 2, window: '1m', per: byName }]);
    const requests = Array.from({ length: 4 }, (_, i) => ({ ip: `6.6.${i}.1`, raw: { email: 'Bob@ex.com ' } }));
    expect(passing(policy, requests)).toEqual([true, true, false, false]);
  });

  it('GHSA-cq42-vhv7-xr7p (Keycloak): a user who is called as another one signs in is somebody else', () => {
    const policy = policyOf([
      { limit: 1, window: '1m', per: 'user' },
      { limit: 1, window: '1m', per: byName },
    ]);
    expect(passing(policy, [{ user: 'bob' }, { raw: { email: 'bob' } }, { raw: { email: 'bob' } }])).toEqual([
      true,
      true,
      false,
    ]);
  });
});

describe('how it is counted', () => {
  it.each(['CVE-2026-133312 (@fastify/rate-limit)', 'GHSA-984p-xq9m-4rjw (express-brute)', 'CVE-2026-92583 (AVideo)'])(
    '%s: the last unit is given out once, however many ask for it at once',
    async () => {
      const limiter = limiterWith({ identify: () => Promise.resolve(undefined) });
      const policy = policyOf([perIp(10)]);
      const decisions = await Promise.all(
        Array.from({ length: 200 }, async () => limiter.check(contextOf({}), policy)),
      );
      expect(decisions.filter((decision) => decision?.allowed)).toHaveLength(10);
    },
  );

  it('CVE-2026-74878 (openssl_encrypt): a memory store that several workers have is said', () => {
    vi.stubEnv('WEB_CONCURRENCY', '4');
    expect([...limiterWith().warnings.keys()]).toContain('memory-store-with-replicas');
  });

  it('CVE-2026-128332 (listmonk): what resets the password attempts leaves those of the second factor', () => {
    const limiter = limiterWith();
    const login = policyOf([{ limit: 3, window: '1m', per: ['ip', byName] }], { name: 'login' });
    const otp = policyOf([{ limit: 1, window: '1m', per: ['ip', byName] }], { name: 'otp' });
    const bob = { raw: { email: 'bob' } };
    expect(passing(otp, [bob], limiter)).toEqual([true]);
    passing(login, [bob], limiter);
    expect(limiter.reset(contextOf(bob), login)).toBe(true);
    expect([passing(login, [bob], limiter), passing(otp, [bob], limiter)]).toEqual([[true], [false]]);
  });

  it('GHSA-2vgg-9h6w-m454 (Argo CD): a flood of names does not wash out the counter of one', () => {
    const limiter = limiterWith({ store: memoryStore({ maxKeys: 100, now: createClock() }) });
    const policy = policyOf([{ limit: 2, window: '1m', per: byName }]);
    const admin = { raw: { email: 'admin' } };
    expect(passing(policy, [admin, admin, admin], limiter)).toEqual([true, true, false]);
    passing(
      policy,
      Array.from({ length: 5000 }, (_, i) => ({ raw: { email: `flood-${i}` } })),
      limiter,
    );
    expect(passing(policy, [admin], limiter)).toEqual([false]);
  });

  it('CVE-2026-12590 (body-parser): a limit that is no number is refused, and not none', () => {
    for (const limit of [Number.NaN, '5', -1, 1.5, Infinity, undefined, null])
      expect(() => policyOf([{ ...perIp(1), limit: limit as number }])).toThrow('policy.limits[0].limit must be');
    for (const window of [Number.NaN, 0, -1, '5 parsecs', undefined])
      expect(() => policyOf([{ ...perIp(1), window: window as number }])).toThrow('policy.limits[0].window must be');
  });
});
