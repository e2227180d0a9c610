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

  onDisconnect(listener: () => void): () => void {
    return onClose(this.#reply.raw, listener);
  }
}
