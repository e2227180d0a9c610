import { fastifyProxyTrust, NodeContext, readPath, type RequestContext } from '@tollgate/core';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Fastify's request as core sees it. */
export class FastifyContext extends NodeContext<FastifyRequest> {
  readonly reply: FastifyReply;

  constructor(request: FastifyRequest, reply: FastifyReply) {
    super(request, reply.raw);
    this.reply = reply;
  }

  get path(): string {
    return readPath(this.raw.url);
  }

  get route(): string | undefined {
    return this.raw.routeOptions.url;
  }

  get proxyTrust(): RequestContext['proxyTrust'] {
    return fastifyProxyTrust(this.raw);
  }
}
