import { request } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, it } from 'vitest';
import { createLimiter, type Limiter } from '../limiter.ts';
import type { LimiterOptions } from '../limiter-options.ts';
import { definePolicy } from '../policy/define-policy.ts';
import type { LimitOptions, Policy } from '../policy/policy.ts';
import { memoryStore } from '../stores/memory-store.ts';
import { redisStore } from '../stores/redis-store.ts';
import { createClock } from './clock.ts';
import type { RunningApp } from './http-app.ts';
import { identityCases } from './identity-cases.ts';
import { freshPrefix } from './prefix.ts';
import { startRedis, type TestRedis } from './redis-server.ts';

/** The application that an adapter is tested with: `GET /` answers 200, limited by `policy`. */
export interface IdentityAppSpec {
  readonly limiter: Limiter;
  readonly policy: Policy;
  /** Addresses and CIDRs of proxies for the framework's own trust setting, in its own idiom; undefined: trust nobody. */
  readonly trust: string | undefined;
  /** The header that is read. A framework that knows only X-Forwarded-For skips the cases of the other. */
  readonly header: 'x-forwarded-for' | 'forwarded';
}

export interface IdentityUnderTest {
  readonly name: string;
  /** @throws (or rejects) when the framework refuses the trust setting */
  create(spec: IdentityAppSpec): Promise<RunningApp>;
  /** Cases that the adapter cannot pass, each with its reason. */
  readonly skip?: Readonly<Record<string, string>>;
}

/** Each value is a line of its own: a list is a header that is sent more than once. */
export type SentHeaders = Readonly<Record<string, string | readonly string[]>>;

/** One case's application, whose clock stands still: what was admitted once does not come back. */
export interface IdentityBench {
  /** Makes the application, by default with one request per client address and trust in loopback. */
  start(options?: StartOptions): Promise<void>;
  /** The status of a request with these headers. */
  get(headers?: SentHeaders): Promise<number>;
  /** The Redis that counts, where it is one. */
  readonly redis: TestRedis | undefined;
}

export interface StartOptions extends Pick<LimiterOptions, 'identify' | 'pepper'> {
  readonly limit?: Partial<LimitOptions>;
  readonly backstop?: number;
  readonly trust?: string | undefined;
  readonly header?: IdentityAppSpec['header'];
}

/** What every adapter has to make of addresses, headers and ids, over HTTP alone, in memory and in Redis. */
export function describeIdentity(subject: IdentityUnderTest): void {
  describe.each(['memory', 'redis'] as const)(`identity in ${subject.name} on %s`, (kind) => {
    let redis: TestRedis | undefined;
    const running: (() => Promise<void>)[] = [];
    beforeAll(async () => {
      if (kind === 'redis') redis = await startRedis();
    });
    afterAll(() => redis?.stop());
    afterEach(async () => {
      for (const close of running.splice(0)) await close();
    });

    function createBench(): IdentityBench {
      let url = '';
      return {
        redis,
        async start(options = {}) {
          const { limit, backstop = 1000, header = 'x-forwarded-for', identify, pepper } = options;
          const now = createClock();
          const store =
            redis === undefined ? memoryStore({ now }) : redisStore(redis.url, { prefix: freshPrefix(), now });
          const limiter = createLimiter({
            store,
            onWarning: () => {},
            ...(identify && { identify }),
            ...(pepper !== undefined && { pepper }),
          });
          const limits: LimitOptions[] = [{ limit: 1, window: '1m', per: 'ip', ...limit }];
          const policy = definePolicy({ name: 'p', limits, backstop });
          const trust = 'trust' in options ? options.trust : 'loopback';
          running.push(() => limiter.close());
          const app = await subject.create({ limiter, policy, trust, header });
          running.unshift(() => app.close());
          await limiter.ready();
          ({ url } = app);
        },
        get: (headers = {}) => statusOf(url, headers),
      };
    }

    identityCases((name, run) => {
      const reason = subject.skip?.[name];
      it.skipIf(reason !== undefined)(reason === undefined ? name : `${name} (skipped: ${reason})`, () =>
        run(createBench()),
      );
    });
  });
}

/** By hand, because `fetch` joins the lines of a header before it sends them. */
function statusOf(url: string, headers: SentHeaders): Promise<number> {
  return new Promise((resolve, reject) => {
    const lines = Object.entries({ 'user-agent': 'suite', ...headers }).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : [...value],
    ]);
    request(url, { headers: Object.fromEntries(lines) as Record<string, string | string[]> }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0));
    })
      .once('error', reject)
      .end();
  });
}
