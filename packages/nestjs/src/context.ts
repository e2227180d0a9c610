import { type Decision, onClose, readHeader, readPath, type RequestContext } from '@tollgate/core';

/** What Express's and Fastify's requests have in common. */
export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly ip?: string | undefined;
  readonly body?: unknown;
  readonly user?: unknown;
  /** The decision of the last limiter that counted this request. */
  rateLimit?: Decision;
}

/** What Express's and Fastify's responses have in common. */
export interface HttpResponse {
  getHeader(name: string): string | number | string[] | undefined;
  header(name: string, value: string): unknown;
  removeHeader(name: string): unknown;
  /** Fastify: the response of Node, which on Express is this object itself. */
  readonly raw?: NodeResponse;
}

type NodeResponse = Parameters<typeof onClose>[0];

interface PlatformRequest extends HttpRequest {
  /** Express; with its router's mount point taken off `url`. */
  readonly originalUrl?: string;
  readonly route?: { readonly path?: unknown };
  readonly app?: { get(setting: string): unknown };
  readonly socket?: { readonly remoteAddress?: string };
  /** Fastify. */
  readonly routeOptions?: { readonly url?: string };
}

/** Nest's request as core sees it, on the Express and on the Fastify platform. */
export class NestContext implements RequestContext<HttpRequest> {
  readonly raw: HttpRequest;
  readonly #response: HttpResponse;

  constructor(request: HttpRequest, response: HttpResponse) {
    this.raw = request;
    this.#response = response;
  }

  get method(): string {
    return this.raw.method;
  }

  get path(): string {
    const { originalUrl, url } = this.raw as PlatformRequest;
    return readPath(originalUrl ?? url);
  }

  get route(): string | undefined {
    const { route, routeOptions } = this.raw as PlatformRequest;
    return typeof route?.path === 'string' ? route.path : routeOptions?.url;
  }

  /** The platform's own answer: `app.set('trust proxy', …)` on Express, `new FastifyAdapter({ trustProxy })` on Fastify. */
  get ip(): string | undefined {
    return this.raw.ip;
  }

  get user(): unknown {
    return this.raw.user;
  }

  header(name: string): string | undefined {
    return readHeader(this.raw.headers, name);
  }

  get peer(): string | undefined {
    return (this.raw as PlatformRequest).socket?.remoteAddress;
  }

  /** Fastify's own setting is the platform adapter's, which does not tell. */
  get proxyTrust(): 'everything' | undefined {
    return (this.raw as PlatformRequest).app?.get('trust proxy') === true ? 'everything' : undefined;
  }

  onFinish(listener: () => void): void {
    onClose(this.#nodeResponse, listener);
  }

  get #nodeResponse(): NodeResponse {
    return this.#response.raw ?? (this.#response as unknown as NodeResponse);
  }

  onDisconnect(listener: () => void): () => void {
    return onClose(this.#nodeResponse, listener);
  }
}
