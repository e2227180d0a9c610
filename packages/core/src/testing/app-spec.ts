import type { Resolver } from '../context.ts';
import type { Limiter } from '../limiter.ts';
import type { PolicySpec } from '../policy/choose.ts';
import type { Policy } from '../policy/policy.ts';
import type { RunningApp } from './http-app.ts';

/**
 * The application that an adapter is tested with, written in the framework's own idiom. It trusts proxies on loopback,
 * and takes what `x-user` says for the user before the limiter looks. `policy` limits every route, and requests that no
 * route takes; a route or a scope (a router, a plugin, a controller) with a policy of its own is limited by that, in
 * addition to `policy` or in its place, as the framework's users expect.
 *
 * - `GET /read` calls `onRead` and answers `{ "remaining": n }`, the `quota.remaining` of the decision as handlers find it
 * - `GET /health` is not limited
 * - `POST /search` is limited by `search`, `GET /users/:id` by `users`, `GET /chosen` by `chosen`
 * - `GET /twice` has `policy` mounted once more
 * - the scope `/nested` is limited by `nested`: `GET /nested/read`, and `GET /nested/own`, whose own policy is `own`
 * - `POST /echo` answers its JSON body; a malformed one with 400, one of 200 kB with 413
 * - `POST /login` takes a JSON body and is limited by `login`, which counts by its `name`; 200 if `secret` is `right`, else 401
 * - `GET /private` answers 401 unless there is a user, by the framework's means on that route
 * - `GET /teapot` answers 418, with `cache-control: max-age=60`; `GET /redirect` redirects to `/read` (302)
 * - `GET /tagged` has the ETag `"v1"`, and answers 304 to `if-none-match` with it
 * - `GET /throw` throws and `GET /reject` rejects; both answer 500
 * - `GET /slow` waits for `slow()`, then answers 200
 * - `GET /stream` sends `one`, `two` and `three` in three chunks; `GET /early` sends `one`, waits for `slow()`, then sends `two`
 * - `GET /broken` sends `one`, then its stream fails; `GET /late` sends `one`, then the handler throws, and the answer ends
 *
 * `onError` is told the errors that reach the framework's error handler.
 */
export interface AppSpec {
  readonly limiter: Limiter;
  readonly policy: Policy;
  readonly search: Policy;
  readonly users: Policy;
  readonly nested: Policy;
  readonly own: Policy;
  readonly chosen: PolicySpec;
  /** @param nameOf the `name` in the body of a request of the framework; undefined where there is none */
  readonly login: <R>(nameOf: Resolver<R, unknown>) => Policy<R>;
  readonly onRead: () => void;
  readonly onError: (error: unknown) => void;
  readonly slow: () => Promise<void>;
  /** To be served over HTTP/2, in clear text. */
  readonly http2: boolean;
}

/** Whether a policy comes in addition to those outside of it, or in their place. */
export type Composition = 'adds' | 'replaces';

export interface AdapterUnderTest {
  readonly name: string;
  /** What a policy does on a route, and on a scope of routes. */
  readonly composition: { readonly route: Composition; readonly scope: Composition };
  create(spec: AppSpec): Promise<RunningApp>;
  /** Why the cases over HTTP/2 are left out, where they are. */
  readonly skipHttp2?: string;
  /** Cases that the adapter cannot pass, each with its reason. */
  readonly skip?: Readonly<Record<string, string>>;
}
