import { readHeader, type RequestContext } from '@tollgate/core';
import type { FastifyRequest } from 'fastify';

/** Fastify's request as core sees it. */
export class FastifyContext implements RequestContext<FastifyRequest> {
  readonly raw: FastifyRequest;

  constructor(request: FastifyRequest) {
    this.raw = request;
  }

  get method(): string {
    return this.raw.method;
  }

  get path(): string {
    return this.raw.url.split('?', 1)[0] as string;
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
}
