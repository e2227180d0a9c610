import type { RequestContext, ResponseFacts } from '@tollgate/core';
import type { Context } from 'hono';
import { matchedRoutes, routePath } from 'hono/route';
import { peerOf } from './address.ts';

/** Hono's context as core sees it. */
export class HonoContext implements RequestContext<Context> {
  readonly raw: Context;
  readonly #clientIp: (c: Context) => string | undefined;
  readonly #finish: ((response: ResponseFacts) => void)[] = [];

  constructor(c: Context, clientIp: (c: Context) => string | undefined) {
    this.raw = c;
    this.#clientIp = clientIp;
  }

  /** To be called when it is known how the request is answered: Hono has no event for it. */
  finished({ status, headers }: Pick<Response, 'status' | 'headers'>): void {
    // On Node the signal is made when somebody asks for it.
    if (this.#finish.length === 0) return;
    const header = (name: string): string | undefined => headers.get(name) ?? undefined;
    const facts = { status, aborted: this.raw.req.raw.signal.aborted, header };
    for (const listener of this.#finish.splice(0)) listener(facts);
  }

  onFinish(listener: (response: ResponseFacts) => void): void {
    this.#finish.push(listener);
  }

  get peer(): string | undefined {
    return peerOf(this.raw);
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
