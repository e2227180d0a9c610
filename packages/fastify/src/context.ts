import { NodeContext, readPath } from '@tollgate/core';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Fastify's request as core sees it. */
export class FastifyContext extends NodeContext<FastifyRequest> {
  constructor(request: FastifyRequest, reply: FastifyReply) {
    super(request, reply.raw);
  }

  get path(): string {
    return readPath(this.raw.url);
  }

  get route(): string | undefined {
    return this.raw.routeOptions.url;
  }

  /** Fastify 5 takes a number as trusting nobody, since hops are only known by their addresses. */
  get proxyTrust(): 'everything' | 'ignored-hops' | undefined {
    const { server } = this.raw;
    const trust = trustOf(server);
    if (trust === true) return 'everything';
    return typeof trust === 'number' && Number.parseInt(server.version, 10) >= 5 ? 'ignored-hops' : undefined;
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
