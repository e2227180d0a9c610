import type { RequestContext, ResponseFacts } from '@tollgate/core';
import type { Context } from 'hono';
import { matchedRoutes, routePath } from 'hono/route';

/** Hono's context as core sees it. */
export class HonoContext implements RequestContext<Context> {
  readonly raw: Context;
  readonly #clientIp: (c: Context) => string | undefined;
  readonly #finish: ((response: ResponseFacts) => void)[] = [];

  constructor(c: Context, clientIp: (c: Context) => string | undefined) {
    this.raw = c;
    this.#clientIp = clientIp;
  }

  /** To be called when the handler has answered: Hono has no event for it. */
  finished(): void {
    const { res } = this.raw;
    const header = (name: string): string | undefined => res.headers.get(name) ?? undefined;
    const facts = { status: res.status, aborted: this.raw.req.raw.signal.aborted, header };
    for (const listener of this.#finish.splice(0)) listener(facts);
  }

  onFinish(listener: (response: ResponseFacts) => void): void {
    this.#finish.push(listener);
  }

  get peer(): string | undefined {
    return socketAddress(this.raw);
  }

  get method(): string {
    return this.raw.req.method;
  }

  get path(): string {
    return this.raw.req.path;
  }

  /**
   * The pattern of the handler that is to answer: Hono matches all routes before it runs the first. Those for all methods
   * are rather middlewares; where there is no other, the pattern that this middleware is mounted on.
   */
  get route(): string | undefined {
    const behind = matchedRoutes(this.raw).slice(this.raw.req.routeIndex);
    const handler =
      behind.find(({ method, path }) => method !== 'ALL' && !path.endsWith('*')) ??
      behind.findLast(({ path }) => !path.includes('*'));
    return handler?.path ?? routePath(this.raw);
  }

  get ip(): string | undefined {
    return this.#clientIp(this.raw);
  }

  /** Where Hono's own middlewares (`jwt`, sessions) put it. */
  get user(): unknown {
    return (this.raw.get('user') as unknown) ?? (this.raw.get('jwtPayload') as unknown);
  }

  header(name: string): string | undefined {
    return this.raw.req.header(name);
  }

  onDisconnect(listener: () => void): () => void {
    const { signal } = this.raw.req.raw;
    if (signal.aborted) listener();
    signal.addEventListener('abort', listener, { once: true });
    return () => signal.removeEventListener('abort', listener);
  }
}

/** The peer of the connection on Node (`@hono/node-server` puts the request into `c.env`). */
export function socketAddress(c: Context): string | undefined {
  const { incoming } = (c.env ?? {}) as { incoming?: { socket?: { remoteAddress?: string } } };
  return incoming?.socket?.remoteAddress;
}
