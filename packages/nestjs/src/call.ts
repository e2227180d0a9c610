import type { ExecutionContext } from '@nestjs/common';
import { type HttpRequest, type HttpResponse, NestContext } from './context.ts';

/** A call of a handler by a client whose address is known. */
export interface Call {
  /** The same object whenever Nest asks about this call. */
  readonly key: object;
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly createContext: () => NestContext;
  /** Whether a denial is the whole response, and not one field of many. */
  readonly isWhole: boolean;
}

export function httpCall(request: HttpRequest, response: HttpResponse): Call {
  return { key: request, request, response, createContext: () => new NestContext(request, response), isWhole: true };
}

/** Undefined where nothing tells who the client is. */
export function findCall(context: ExecutionContext): Call | undefined {
  const type = context.getType<string>();
  if (type === 'http') {
    const http = context.switchToHttp();
    return httpCall(http.getRequest<HttpRequest>(), http.getResponse<HttpResponse>());
  }
  return type === 'graphql' ? graphqlCall(context) : undefined;
}

/** @throws Error that says what to do where nothing tells who the client is */
export function callOf(context: ExecutionContext): Call {
  const call = findCall(context);
  if (call !== undefined) return call;
  const type = context.getType<string>();
  const why =
    type === 'graphql'
      ? 'and its GraphQL context has no HTTP request and response. Make it `({ req, res }) => ({ req, res })`, or mark it'
      : 'which has no client address. Mark it';
  throw new Error(
    `RateLimitGuard limits HTTP requests; ${context.getClass().name}.${context.getHandler().name} is called by ` +
      `"${type}", ${why} with @SkipRateLimit().`,
  );
}

/** What Apollo, Yoga and Mercurius, on either platform, make the context of. */
interface GraphqlContextValue {
  readonly req?: HttpRequest & { readonly res?: HttpResponse };
  readonly request?: HttpRequest;
  readonly res?: HttpResponse;
  readonly reply?: HttpResponse & { readonly request?: HttpRequest };
}

interface ResolveInfo {
  readonly fieldName?: string;
  readonly parentType?: { readonly name?: string };
}

function graphqlCall(context: ExecutionContext): Call | undefined {
  const args =
    context.getArgs<[root: unknown, args: unknown, value?: GraphqlContextValue | null, info?: ResolveInfo]>();
  const { req, reply, request = reply?.request, res = reply ?? req?.res } = args[2] ?? {};
  const found = req ?? request;
  // A subscription comes over a WebSocket: the request is the one that opened it, and nothing answers it.
  if (found?.headers === undefined || typeof res?.header !== 'function') return undefined;
  const field = `${args[3]?.parentType?.name}.${args[3]?.fieldName}`;
  return {
    key: args,
    request: found,
    response: res,
    createContext: () => new FieldContext(found, res, field),
    isWhole: false,
  };
}

/** A field of a GraphQL request: one of them can ask for `login` a thousand times, under as many aliases. */
class FieldContext extends NestContext {
  readonly #field: string;

  constructor(request: HttpRequest, response: HttpResponse, field: string) {
    // A request is charged once by each policy. This one is another for each field, and shows all that the real one has.
    super(Object.create(request) as HttpRequest, response);
    this.#field = field;
    // How the HTTP request ends (200, mostly) does not tell how the field did: a wrong password must not pass for a right one.
    Object.defineProperty(this, 'onFinish', { value: undefined });
  }

  override get route(): string {
    return this.#field;
  }
}
