import { readHeader, type RequestContext } from '@tollgate/core';
import type { Request } from 'express';

/** Express's request as core sees it. */
export class ExpressContext implements RequestContext<Request> {
  readonly raw: Request;

  constructor(req: Request) {
    this.raw = req;
  }

  get method(): string {
    return this.raw.method;
  }

  get path(): string {
    return this.raw.baseUrl + this.raw.path;
  }

  /** Known where the middleware is mounted on a route; `app.use` runs before Express has one. */
  get route(): string | undefined {
    const { route, baseUrl } = this.raw as { route?: { path?: unknown }; baseUrl: string };
    return typeof route?.path === 'string' ? baseUrl + route.path : undefined;
  }

  /** Express's own answer, under the application's `trust proxy`. */
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
