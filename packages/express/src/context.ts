import { onClose, readHeader, type RequestContext } from '@tollgate/core';
import type { Request, Response } from 'express';

/** Express's request as core sees it. */
export class ExpressContext implements RequestContext<Request> {
  readonly raw: Request;
  readonly #res: Response;

  constructor(req: Request, res: Response) {
    this.raw = req;
    this.#res = res;
  }

  get method(): string {
    return this.raw.method;
  }

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

  get peer(): string | undefined {
    return this.raw.socket.remoteAddress;
  }

  get proxyTrust(): 'everything' | undefined {
    return this.raw.app.get('trust proxy') === true ? 'everything' : undefined;
  }

  onFinish(listener: () => void): void {
    onClose(this.#res, listener);
  }

  onDisconnect(listener: () => void): () => void {
    return onClose(this.#res, listener);
  }
}
