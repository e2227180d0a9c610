import { HttpException } from '@nestjs/common';
import { andThen, type Limiter, type MaybePromise, type PolicySpec, type Reply } from '@tollgate/core';
import { type HttpRequest, type HttpResponse, NestContext, nodeResponseOf } from './context.ts';

/** A denied request: a 429 (or a 503 while a policy fails closed) that exception filters can catch. */
export class RateLimitException extends HttpException {}

/** Decides a request and writes the headers. @throws RateLimitException (or rejects with it) when it is denied */
export function enforce(
  limiter: Limiter,
  spec: PolicySpec<HttpRequest>,
  request: HttpRequest,
  response: HttpResponse,
): MaybePromise<true> {
  const ctx = new NestContext(request, response);
  return andThen(limiter.check(ctx, spec), (decision) => {
    if (decision === undefined) return true;
    request.rateLimit = decision;
    const reply = limiter.reply(decision, ctx, (name) => response.getHeader(name));
    return andThen(reply, (ready) => write(ready, response));
  });
}

function write({ status, headers, remove, body = {} }: Reply, response: HttpResponse): true {
  // Somebody answered meanwhile, such as a timeout: nothing can be written, and what is denied still does not go on.
  if (!nodeResponseOf(response).headersSent) {
    for (const name of remove) response.removeHeader(name);
    for (const [name, value] of headers) {
      if (name !== 'Content-Type') response.header(name, value);
      // Of a text Nest makes JSON of its own: `{ statusCode, message }`.
      else if (typeof body === 'object') setContentType(response, value);
    }
  }
  if (status !== undefined) throw new RateLimitException(body, status);
  return true;
}

/** On Express, Nest turns the type of an error's body into plain JSON, and Express adds a charset; neither touches a list. */
function setContentType(response: HttpResponse, type: string): void {
  if (response.setHeader === undefined) response.header('Content-Type', type);
  else response.setHeader('Content-Type', [type]);
}
