import { afterAll, afterEach, beforeAll, describe, it } from 'vitest';
import { createLimiter, type Limiter } from '../limiter.ts';
import { definePolicy } from '../policy/define-policy.ts';
import type { LimitOptions, Policy, PolicyOptions } from '../policy/policy.ts';
import type { ReplyOptions } from '../reply/reply-options.ts';
import { memoryStore } from '../stores/memory-store.ts';
import { redisStore } from '../stores/redis-store.ts';
import type { Store } from '../stores/store.ts';
import { adapterCases } from './adapter-cases.ts';
import { createClock, type TestClock } from './clock.ts';
import type { RunningApp } from './http-app.ts';
import { freshPrefix } from './prefix.ts';
import { replyCases } from './reply-cases.ts';
import { startRedis, type TestRedis } from './redis-server.ts';

/**
 * The application that an adapter is tested with, written in the framework's own idiom:
 *
 * - `policy` limits every route, and requests that no route takes
 * - `GET /read` calls `onRead` and answers `{ "remaining": n }`, the `quota.remaining` of the decision as handlers find it
 * - `POST /search` is limited by `search`, in addition to `policy` or in its place, as the framework's users expect
 * - `GET /twice` has `policy` mounted once more
 * - `GET /health` is not limited
 * - `GET /throw` throws, and answers 500
 * - `GET /stream` sends `one`, `two` and `three` in three chunks
 */
export interface AppSpec {
  readonly limiter: Limiter;
  readonly policy: Policy;
  readonly search: Policy;
  readonly onRead: () => void;
}

export interface AdapterUnderTest {
  readonly name: string;
  create(spec: AppSpec): Promise<RunningApp>;
  /** Cases that the adapter cannot pass, each with its reason. */
  readonly skip?: Readonly<Record<string, string>>;
}

/** One case's application and the clock that its limiter counts by. */
export interface AdapterBench {
  readonly clock: TestClock;
  /** Makes the application with `policy` at the given limit, and talks to it. */
  start(options?: StartOptions): Promise<Client>;
}

export interface StartOptions extends Omit<Partial<PolicyOptions>, 'limits'> {
  readonly limit?: LimitOptions;
  /** In place of `limit`. */
  readonly limits?: readonly LimitOptions[];
  readonly reply?: ReplyOptions;
  readonly pepper?: string;
  readonly store?: Store;
  readonly onRead?: () => void;
}

export interface Client {
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  send(method: string, path: string, headers?: Record<string, string>, signal?: AbortSignal): Promise<Response>;
}

/** The conformance suite of adapters, over HTTP alone, once with decisions at once (memory) and once with late ones (Redis). */
export function describeAdapter(subject: AdapterUnderTest): void {
  describe.each(['memory', 'redis'] as const)(`adapter ${subject.name} on %s`, (kind) => {
    let redis: TestRedis | undefined;
    const running: (() => Promise<void>)[] = [];
    beforeAll(async () => {
      if (kind === 'redis') redis = await startRedis();
    });
    afterAll(() => redis?.stop());
    afterEach(async () => {
      for (const close of running.splice(0)) await close();
    });

    const storeOn = (now: () => number): Store =>
      redis === undefined ? memoryStore({ now }) : redisStore(redis.url, { prefix: freshPrefix(), now });

    const test = (name: string, run: (bench: AdapterBench) => Promise<void>): void => {
      const reason = subject.skip?.[name];
      it.skipIf(reason !== undefined)(reason === undefined ? name : `${name} (skipped: ${reason})`, async () => {
        const clock = createClock();
        const start = async (options: StartOptions = {}): Promise<Client> => {
          const { limit = { limit: 3, window: '1m' }, limits = [limit], reply = {}, pepper, ...others } = options;
          const { store = storeOn(clock), onRead = () => {}, ...policy } = others;
          const limiter = createLimiter({ store, reply, onWarning: () => {}, ...(pepper !== undefined && { pepper }) });
          const app = await subject.create({
            limiter,
            policy: definePolicy({ name: 'everywhere', ...policy, limits }),
            search: definePolicy({ name: 'search', limits: [{ limit: 2, window: '1m' }] }),
            onRead,
          });
          running.push(
            () => app.close(),
            () => limiter.close(),
          );
          if (options.store === undefined) await limiter.ready();
          return clientOf(app);
        };
        await run({ clock, start });
      });
    };
    adapterCases(test);
    replyCases(test);
  });
}

function clientOf(app: RunningApp): Client {
  const send: Client['send'] = (method, path, headers = {}, signal) => {
    const init = { method, headers: { 'user-agent': 'suite', ...headers }, ...(signal && { signal }) };
    return app.fetch(new Request(`http://example.test${path}`, init));
  };
  return { send, get: (path, headers) => send('GET', path, headers) };
}
