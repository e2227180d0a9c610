import { afterAll, afterEach, beforeAll, describe, it } from 'vitest';
import type { Resolver } from '../context.ts';
import { deviceTokens, type DeviceTokens } from '../identity/device-token.ts';
import { createLimiter, type Limiter } from '../limiter.ts';
import { andThen } from '../maybe.ts';
import { auth } from '../policy/auth.ts';
import type { Policy } from '../policy/policy.ts';
import { memoryStore } from '../stores/memory-store.ts';
import { redisStore } from '../stores/redis-store.ts';
import { bruteForceCases, LARGE_CASES } from './brute-force-cases.ts';
import { createClock, type TestClock } from './clock.ts';
import type { RunningApp } from './http-app.ts';
import { ACCOUNT, type LoginClient, loginClient } from './login-client.ts';
import { loginCases } from './login-cases.ts';
import { freshPrefix } from './prefix.ts';
import { startRedis, type TestRedis } from './redis-server.ts';

/** What is asked for: a password, or the code of a second factor. */
export type LoginStep = 'login' | 'code';

/**
 * The application that an adapter is tested with; it trusts proxies on loopback:
 *
 * - `POST /login` and `POST /code` take a JSON object, whose `name` the policies count by
 * - each is limited by the policy of that name, behind the body parser
 * - what passes is answered with `answer(step, body)`
 */
export interface LoginAppSpec {
  readonly limiter: Limiter;
  /** @param nameOf the `name` in the body of a request of the framework; undefined where there is none */
  readonly policies: <R>(nameOf: Resolver<R, unknown>) => Readonly<Record<LoginStep, Policy<R>>>;
  readonly answer: (step: LoginStep, body: unknown) => LoginAnswer;
}

export interface LoginAnswer {
  readonly status: 200 | 401;
  readonly body: object;
}

export interface LoginUnderTest {
  readonly name: string;
  create(spec: LoginAppSpec): Promise<RunningApp>;
  /** Why the cases of 10 000 requests are left out, where they are. */
  readonly skipLarge?: string;
  /** Cases that the adapter cannot pass, each with its reason. */
  readonly skip?: Readonly<Record<string, string>>;
}

/** One case's application and the clock that its limiter counts by, which stands still until it is told to move. */
export interface LoginBench {
  readonly clock: TestClock;
  readonly devices: DeviceTokens;
  readonly start: () => Promise<LoginClient>;
}

export type LoginTest = (name: string, run: (bench: LoginBench) => Promise<void>) => void;

/** Guessing at logins, over HTTP alone, in memory and in Redis: how many attempts reach the handler, and what they learn. */
export function describeLogin(subject: LoginUnderTest): void {
  describe.each(['memory', 'redis'] as const)(`logins in ${subject.name} on %s`, (kind) => {
    let redis: TestRedis | undefined;
    const running: (() => Promise<void>)[] = [];
    beforeAll(async () => {
      if (kind === 'redis') redis = await startRedis();
    });
    afterAll(() => redis?.stop());
    afterEach(async () => {
      for (const close of running.splice(0)) await close();
    });

    function createBench(): LoginBench {
      const clock = createClock();
      const devices = deviceTokens({ secret: 'a secret of the suite, and of nothing else' });
      return { clock, devices, start };

      async function start(): Promise<LoginClient> {
        const store =
          redis === undefined
            ? memoryStore({ now: clock })
            : redisStore(redis.url, { prefix: freshPrefix(), now: clock });
        const denials: (string | undefined)[] = [];
        const limiter = createLimiter({
          store,
          // What is counted is asked here, not how fast.
          deadline: '10s',
          onWarning: () => {},
          onDecision: ({ allowed, binding }) => void (allowed || denials.push(binding?.name)),
        });
        const handled = { login: 0, code: 0 };
        const app = await subject.create({
          limiter,
          policies: policiesBy(devices),
          answer(step, body) {
            handled[step]++;
            const { name, secret } = (body ?? {}) as { name?: unknown; secret?: unknown };
            const fits = name === ACCOUNT.name && secret === ACCOUNT.secret;
            return fits ? { status: 200, body: { welcome: true } } : { status: 401, body: { error: 'Wrong' } };
          },
        });
        const client = loginClient(app, limiter, handled, denials);
        running.push(
          async () => client.close(),
          () => app.close(),
          () => limiter.close(),
        );
        await limiter.ready();
        return client;
      }
    }

    const test: LoginTest = (name, run) => {
      const reason = LARGE_CASES.includes(name) ? subject.skipLarge : subject.skip?.[name];
      const title = reason === undefined ? name : `${name} (skipped: ${reason})`;
      it.skipIf(reason !== undefined)(title, () => run(createBench()), 60_000);
    };
    bruteForceCases(test);
    loginCases(test);
  });
}

function policiesBy(devices: DeviceTokens): LoginAppSpec['policies'] {
  return (nameOf) => ({
    login: auth({
      username: nameOf,
      success: ({ status }) => status === 200,
      trustedDevice: (req, ctx) =>
        andThen(nameOf(req, ctx), (name) => {
          const [, token] = /^__Host-device=(.*)$/.exec(ctx.header('cookie') ?? '') ?? [];
          return devices.verify(token, name);
        }),
    }),
    code: auth({ name: 'code', username: nameOf, success: ({ status }) => status === 200 }),
  });
}
