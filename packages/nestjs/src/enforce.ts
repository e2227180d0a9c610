import { HttpException } from '@nestjs/common';
import { andThen, type Limiter, type MaybePromise, type PolicySpec, toReply } from '@tollgate/core';
import { type HttpRequest, type HttpResponse, NestContext } from './context.ts';

/** A denied request: a 429 (or a 503 while a policy fails closed) that exception filters can catch. */
export class RateLimitException extends HttpException {}

/** Decides a request and writes the headers. @throws RateLimitException (or rejects with it) when it is denied */
export function enforce(
  limiter: Limiter,
  spec: PolicySpec<HttpRequest>,
  request: HttpRequest,
  response: HttpResponse,
): MaybePromise<true> {
  return andThen(limiter.check(new NestContext(request, response), spec), (decision) => {
    if (decision === undefined) return true;
    request.rateLimit = decision;
    const { status, headers, remove, body } = toReply(decision, (name) => response.getHeader(name));
    for (const name of remove) response.removeHeader(name);
    for (const [name, value] of headers) response.header(name, value);
    if (status !== undefined) throw new RateLimitException({ ...body }, status);
    return true;
  });
}
