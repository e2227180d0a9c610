import {
  type Decision,
  fastifyProxyTrust,
  NodeContext,
  type NodeRequest,
  type NodeResponse,
  readPath,
  type RequestContext,
} from '@tollgate/core';

/** What Express's and Fastify's requests have in common. */
export interface HttpRequest extends NodeRequest {
  readonly url: string;
  /** What the platform parsed. Of JSON it can be anything, which `body?.name` survives. */
  readonly body?: Readonly<Record<string, unknown>> | undefined;
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

interface PlatformRequest extends HttpRequest {
  /** Express; with its router's mount point taken off `url`. */
  readonly originalUrl?: string;
  readonly baseUrl?: string;
  readonly route?: { readonly path?: unknown };
  readonly app?: { get(setting: string): unknown };
  /** Fastify. */
  readonly routeOptions?: { readonly url?: string };
  readonly server?: object;
  readonly ips?: readonly string[];
}

/**
 * Nest's request as core sees it, on the Express and on the Fastify platform. The module makes its own; services make one
 * to call the limiter with.
 */
export class NestContext<R extends HttpRequest = HttpRequest> extends NodeContext<R> {
  constructor(request: R, response: HttpResponse) {
    super(request, nodeResponseOf(response));
  }

  get path(): string {
    const { originalUrl, url } = this.raw as PlatformRequest;
    return readPath(originalUrl ?? url);
  }

  get route(): string | undefined {
    const { route, routeOptions } = this.raw as PlatformRequest;
    return typeof route?.path === 'string' ? route.path : routeOptions?.url;
  }

  /** Where another application on Express has mounted this one. */
  get mount(): string | undefined {
    return (this.raw as PlatformRequest).baseUrl;
  }

  get proxyTrust(): RequestContext['proxyTrust'] {
    const request = this.raw as PlatformRequest;
    return request.app?.get('trust proxy') === true ? 'everything' : fastifyProxyTrust(request);
  }
}

export function nodeResponseOf(response: HttpResponse): NodeResponse {
  return response.raw ?? (response as unknown as NodeResponse);
}
