import type { RequestContext, ResponseFacts } from './context.ts';

/** What the requests of Node's frameworks have in common. */
export interface NodeRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The framework's own answer, under its own trust setting. */
  readonly ip?: string | undefined;
  readonly socket?: { readonly remoteAddress?: string | undefined };
}

/** The part of Node's `ServerResponse` that tells when it is over. */
export interface NodeResponse {
  readonly statusCode: number;
  readonly headersSent: boolean;
  readonly writableFinished: boolean;
  readonly destroyed: boolean;
  getHeader(name: string): number | string | readonly string[] | undefined;
  once(event: 'close', listener: () => void): unknown;
  off(event: 'close', listener: () => void): unknown;
}

/** The facts that are the same in every framework on Node. Getters, so that a fact nobody asks for costs nothing. */
export abstract class NodeContext<R extends NodeRequest> implements RequestContext<R> {
  readonly raw: R;
  readonly #response: NodeResponse;

  constructor(request: R, response: NodeResponse) {
    this.raw = request;
    this.#response = response;
  }

  abstract get path(): string;
  abstract get route(): string | undefined;

  get method(): string {
    return this.raw.method;
  }

  get ip(): string | undefined {
    return this.raw.ip;
  }

  get peer(): string | undefined {
    return this.raw.socket?.remoteAddress;
  }

  /** Where authentication libraries put it. */
  get user(): unknown {
    return (this.raw as { user?: unknown }).user;
  }

  header(name: string): string | undefined {
    const value = this.raw.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  onFinish(listener: (response: ResponseFacts) => void): void {
    const response = this.#response;
    const finish = (): void => {
      const { statusCode: status, writableFinished } = response;
      const header = (name: string): string | undefined => response.getHeader(name)?.toString();
      listener({ status, aborted: !writableFinished, header });
    };
    // It may be over already, for who had to wait; `close` does not come again.
    if (response.destroyed) queueMicrotask(finish);
    else response.once('close', finish);
  }

  onDisconnect(listener: () => void): () => void {
    // The response and not the request, whose own 'close' only says that it was read; nor the socket, which many share.
    const response = this.#response;
    if (response.destroyed) listener();
    else response.once('close', listener);
    return () => void response.off('close', listener);
  }
}

/** The parts of a Fastify request that tell of its server's `trustProxy`. */
export interface FastifyFacts {
  readonly server?: object;
  readonly headers: NodeRequest['headers'];
  /** The peer, and whom the trusted ones named. */
  readonly ips?: readonly string[] | undefined;
}

/**
 * What is wrong with Fastify's `trustProxy`, under Nest as well: it trusts everybody, or is a number. Fastify 4 counts
 * hops; within 5 it came to trust nobody then (5.11.3 counts, 5.12.8 does not), so what it did is looked at.
 */
export function fastifyProxyTrust({ server, headers, ips }: FastifyFacts): RequestContext['proxyTrust'] {
  const trust = server === undefined ? undefined : fastifyOptionsOf(server)?.trustProxy;
  if (trust === true) return 'everything';
  const isIgnored = typeof trust === 'number' && headers['x-forwarded-for'] !== undefined && ips?.length === 1;
  return isIgnored ? 'ignored-hops' : undefined;
}

/** Fastify keeps its options under a symbol of its own; where that changes, there is no diagnosis, and nothing else. */
function fastifyOptionsOf(server: object): { readonly trustProxy?: unknown } | undefined {
  for (let scope: object | null = server; scope !== null; scope = Object.getPrototypeOf(scope) as object | null) {
    const symbol = Object.getOwnPropertySymbols(scope).find(({ description }) => description === 'fastify.options');
    if (symbol !== undefined) return (scope as Record<symbol, { readonly trustProxy?: unknown }>)[symbol];
  }
  return undefined;
}
