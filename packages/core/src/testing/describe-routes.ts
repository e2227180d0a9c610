import { request } from 'node:http';
import { afterEach, describe, it } from 'vitest';
import { createLimiter, type Limiter } from '../limiter.ts';
import { definePolicy } from '../policy/define-policy.ts';
import type { Policy } from '../policy/policy.ts';
import { type RouteTable, routes } from '../policy/routes.ts';
import type { RunningApp } from './http-app.ts';
import { routeCases } from './route-cases.ts';

/**
 * The application that an adapter is tested with, in the framework's own idiom, everything limited by `table`, and all
 * paths behind the prefix of the subject. A handler tells in the header `x-handler` that it answered:
 *
 * - `login` answers GET and POST `/login`, `health` GET `/health`
 * - `user <id>` answers GET `/users/:id`, with the id as handlers find it, URL-encoded
 * - `page` answers GET `/:page`, for what is neither `login` nor `health`
 * - `static <rest>` answers GET `/static/*`, with the rest as handlers find it, URL-encoded
 */
export interface RoutesAppSpec {
  readonly limiter: Limiter;
  readonly table: RouteTable;
}

export interface RoutesUnderTest {
  readonly name: string;
  /** What all paths begin with, such as `/api`; default: nothing. */
  readonly prefix?: string;
  create(spec: RoutesAppSpec): Promise<RunningApp>;
}

/** What became of a request. */
export interface Answer {
  readonly path: string;
  readonly status: number;
  /** The handler that answered, if one did. */
  readonly handler: string | undefined;
  /** The names of the policies that the headers tell of; empty: it was not counted, or no server took it for a request. */
  readonly policies: readonly string[];
}

export interface RoutesBench {
  /** Makes the application, with one table: `/login` and `/users/me` at a limit, the rest far from theirs. */
  start(limit: number): Promise<void>;
  /** Sends a path below the prefix exactly as it is spelt, which `fetch` would not. */
  send(path: string, method?: string): Promise<Answer>;
}

/** That no spelling of a URL escapes its policy, over HTTP alone. */
export function describeRoutes(subject: RoutesUnderTest): void {
  describe(`routes on ${subject.name}`, () => {
    const { prefix = '' } = subject;
    const running: RunningApp[] = [];
    afterEach(async () => {
      for (const app of running.splice(0)) await app.close();
    });

    function createBench(): RoutesBench {
      let url = '';
      return {
        async start(limit) {
          const app = await subject.create({
            limiter: createLimiter({ onWarning: () => {} }),
            table: tableOf(prefix, limit),
          });
          running.push(app);
          ({ url } = app);
        },
        send: (path, method = 'GET') => send(url, spell(prefix, path), method),
      };
    }
    routeCases((name, run) => {
      it(name, () => run(createBench()));
    });
  });
}

function tableOf(prefix: string, limit: number): RouteTable {
  const policy = (name: string, units = 100_000): Policy =>
    definePolicy({ name, limits: [{ limit: units, window: '1h', per: 'ip' }] });
  return routes({
    [`${prefix}/login`]: policy('login', limit),
    [`${prefix}/users/me`]: policy('me', limit),
    [`${prefix}/users/:id`]: policy('users'),
    [`${prefix}/health`]: false,
    [`${prefix}/static/*`]: false,
    [`${prefix}/static/admin/*`]: policy('admin'),
    '*': policy('all'),
  });
}

/** The prefix goes behind a host, and before everything else. */
function spell(prefix: string, path: string): string {
  const host = /^[a-z]+:\/\/[^/\\]*/i.exec(path)?.[0] ?? '';
  return host + prefix + path.slice(host.length);
}

function send(url: string, path: string, method: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    request({ hostname, port, path, method, agent: false }, (response) => {
      const { statusCode: status = 0, headers } = response;
      const policies = [...String(headers['ratelimit-policy'] ?? '').matchAll(/"(\w+)"/g)].map(([, name]) =>
        String(name),
      );
      const handler = headers['x-handler']?.toString();
      response.resume();
      // Its headers say it all; a server that refuses HEAD may send a body, which is an error behind them.
      resolve({ path, status, handler, policies });
    })
      .once('error', reject)
      .end();
  });
}
