import { onClose, readHeader, readPath, type RequestContext } from '@tollgate/core';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Fastify's request as core sees it. */
export class FastifyContext implements RequestContext<FastifyRequest> {
  readonly raw: FastifyRequest;
  readonly #reply: FastifyReply;

  constructor(request: FastifyRequest, reply: FastifyReply) {
    this.raw = request;
    this.#reply = reply;
  }

  get method(): string {
    return this.raw.method;
  }

  get path(): string {
    return readPath(this.raw.url);
  }

  get route(): string | undefined {
    return this.raw.routeOptions.url;
  }

  /** Fastify's own answer, under the server's `trustProxy`. */
  get ip(): string | undefined {
    return this.raw.ip;
  }

  get user(): unknown {
    return (this.raw as { user?: unknown }).user;
  }

  header(name: string): string | undefined {
    return readHeader(this.raw.headers, name);
  }

  get peer(): string | undefined {
    return this.raw.socket.remoteAddress;
  }

  /** Fastify 5 takes a number as trusting nobody, since hops are only known by their addresses. */
  get proxyTrust(): 'everything' | 'ignored-hops' | undefined {
    const { server } = this.raw;
    const trust = trustOf(server);
    if (trust === true) return 'everything';
    return typeof trust === 'number' && Number.parseInt(server.version, 10) >= 5 ? 'ignored-hops' : undefined;
  }

  onFinish(listener: () => void): void {
    onClose(this.#reply.raw, listener);
  }

  onDisconnect(listener: () => void): () => void {
    return onClose(this.#reply.raw, listener);
  }
}

/** Fastify keeps its options under a symbol of its own; where that changes, there is no diagnosis, and nothing else. */
function trustOf(server: object): unknown {
  for (let scope: object | null = server; scope !== null; scope = Object.getPrototypeOf(scope) as object | null) {
    const symbol = Object.getOwnPropertySymbols(scope).find(({ description }) => description === 'fastify.options');
    if (symbol !== undefined) return (scope as Record<symbol, { trustProxy?: unknown }>)[symbol]?.trustProxy;
  }
  return undefined;
}
