import type { HttpAdapterHost } from '@nestjs/core';
import { type Limiter, type PolicySpec } from '@tollgate/core';
import { httpCall } from './call.ts';
import type { HttpRequest, HttpResponse } from './context.ts';
import { enforce } from './passage.ts';

type Next = (error?: unknown) => void;

interface FastifyInstance {
  addHook(
    name: 'onRequest',
    hook: (request: HttpRequest & { is404: boolean }, reply: HttpResponse, done: Next) => void,
  ): unknown;
}

/**
 * Limits requests that no route takes: guards do not run for them, and scanning for paths must not be free.
 * To be called when Nest has made its routes and not yet its not-found handler, which is in `onModuleInit`.
 */
export function limitUnmatched(
  { httpAdapter }: HttpAdapterHost,
  limiter: Limiter,
  policy: PolicySpec<HttpRequest>,
): void {
  const decide = (request: HttpRequest, response: HttpResponse, next: Next): void => {
    void Promise.resolve()
      .then(() => enforce(httpCall(request, response), limiter, policy))
      .then(() => next(), next);
  };
  if (httpAdapter.getType() === 'fastify') {
    const fastify = httpAdapter.getInstance<FastifyInstance>();
    fastify.addHook('onRequest', (request, reply, done) => (request.is404 ? decide(request, reply, done) : done()));
  } else {
    httpAdapter.use(decide);
  }
}
