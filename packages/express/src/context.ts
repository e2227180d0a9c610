import { NodeContext } from '@tollgate/core';
import type { Request } from 'express';

/** Express's request as core sees it. */
export class ExpressContext extends NodeContext<Request> {
  get path(): string {
    return this.raw.baseUrl + this.raw.path;
  }

  /**
   * The pattern of the route that the middleware is mounted on; `app.use` runs before Express has one. Without the mount
   * path of its router: Express only tells how the client spelt that (`/API`, `/t/1`), which would be a fresh counter.
   */
  get route(): string | undefined {
    const { route } = this.raw as { route?: { path?: unknown } };
    return typeof route?.path === 'string' ? route.path : undefined;
  }

  get mount(): string {
    return this.raw.baseUrl;
  }

  get proxyTrust(): 'everything' | undefined {
    return this.raw.app.get('trust proxy') === true ? 'everything' : undefined;
  }
}
