import {
  type AdapterOptions,
  checkOptions,
  type Decision,
  isPromise,
  limiterOf,
  type PolicySpec,
  toReply,
} from '@tollgate/core';
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { FastifyContext } from './context.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The decision of the last limiter that counted this request. */
    rateLimit?: Decision;
  }
  interface FastifyContextConfig {
    /** The policy of this route, in place of the plugin's; false: this route is not limited. */
    rateLimit?: PolicySpec<FastifyRequest> | false;
  }
}

export interface RateLimitOptions extends AdapterOptions {
  /** For every route that names none, and for requests that no route takes. Default: only routes that name one are limited. */
  readonly policy?: PolicySpec<FastifyRequest>;
}

const plugin: FastifyPluginCallback<RateLimitOptions> = (fastify, options, done) => {
  checkOptions('rateLimit', options, ['limiter', 'policy']);
  const limiter = limiterOf(options);
  const { policy = false } = options;
  if (policy !== false) limiter.register(policy);

  fastify.addHook('onRoute', ({ config }) => {
    if (config?.rateLimit) limiter.register(config.rateLimit);
  });
  fastify.addHook('onRequest', (request, reply, next) => {
    const { rateLimit: spec = policy } = request.routeOptions.config;
    if (spec === false) return next();
    const decision = limiter.check(new FastifyContext(request), spec);
    if (isPromise(decision)) decision.then((late) => answer(late, request, reply, next)).then(undefined, next);
    else answer(decision, request, reply, next);
  });
  done();
};

function answer(decision: Decision | undefined, request: FastifyRequest, reply: FastifyReply, next: () => void): void {
  if (decision === undefined || reply.sent) return next();
  request.rateLimit = decision;
  const { status, headers, body } = toReply(decision, (name) => reply.getHeader(name));
  for (const [name, value] of headers) void reply.header(name, value);
  if (status === undefined) next();
  else void reply.code(status).send(JSON.stringify(body));
}

/**
 * Limits every route of the scope that it is registered in.
 * @example await app.register(rateLimit, { limiter, policy: read() })
 */
export const rateLimit: FastifyPluginCallback<RateLimitOptions> = fastifyPlugin(plugin, {
  name: '@tollgate/fastify',
  fastify: '>=4.26.0',
});
