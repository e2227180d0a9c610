/** What an adapter knows of a request: the only thing that it builds. Getters are welcome, so that unused facts cost nothing. */
export interface RequestContext<R = unknown> {
  /** The HTTP method in upper case. */
  readonly method: string;
  /** The path without the query string: a query string must never make a new counter (CVE-2026-28461). */
  readonly path: string;
  /** The pattern that the framework matched (`/users/:id`); undefined where it has not routed yet. */
  readonly route: string | undefined;
  /** Where the router of `route` is mounted, as the client spelt it; undefined: `route` is the whole pattern. */
  readonly mount?: string | undefined;
  /** A request header by its lower-case name; several lines of one name joined by `, `. */
  header(name: string): string | undefined;
  /** The client's address as the framework answers it, under the framework's own trust setting. Core canonicalises it. */
  readonly ip: string | undefined;
  /** The other end of the connection, for noticing that a proxy is not trusted; undefined where it cannot be known. */
  readonly peer?: string | undefined;
  /** What is wrong with the framework's trust setting, if it is: it trusts everybody, or ignores a number of hops. */
  readonly proxyTrust?: 'everything' | 'ignored-hops' | undefined;
  /** The user that the framework authenticated: an id, or an object with an `id` or `sub`. */
  readonly user: unknown;
  /** Calls the listener when the request has been handled, with how it ended. */
  onFinish?(listener: (response: ResponseFacts) => void): void;
  /** Calls the listener when the client goes away, at once if it has; returns how to stop that. Where missing, a waiting request is not cancelled. */
  onDisconnect?(listener: () => void): () => void;
  /** The framework's own request, handed to resolvers as their first argument. */
  readonly raw: R;
}

/** How a request ended. */
export interface ResponseFacts {
  readonly status: number;
  /** The client went away before it had the response. */
  readonly aborted: boolean;
  /** A response header by its lower-case name. */
  header(name: string): string | undefined;
}

/** Asks the application about a request. The first argument is the framework's own request. */
export type Resolver<R, T> = (req: R, ctx: RequestContext<R>) => T | PromiseLike<T>;

/**
 * The path of a request target, also of one in absolute form (`GET http://host/path`), which routers treat alike. One with
 * a slash behind `http://host?` has no clear path, and is given back as it is: for old routers all up to that slash is the host.
 */
export function readPath(target: string): string {
  if (/^[a-z][a-z\d+.-]*:\/\/[^/?#]*[?#][^/]*\//i.test(target)) return target;
  return target.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '') || '/';
}
