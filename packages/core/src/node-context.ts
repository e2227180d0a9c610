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
    response.once('close', () => {
      const { statusCode: status, writableFinished } = response;
      const header = (name: string): string | undefined => response.getHeader(name)?.toString();
      listener({ status, aborted: !writableFinished, header });
    });
  }

  onDisconnect(listener: () => void): () => void {
    // The response and not the request, whose own 'close' only says that it was read; nor the socket, which many share.
    const response = this.#response;
    if (response.destroyed) listener();
    else response.once('close', listener);
    return () => void response.off('close', listener);
  }
}
