import {
  type AdapterOptions,
  andThen,
  checkOptions,
  type Decision,
  isPromise,
  limiterOf,
  type PolicySpec,
  type Reply,
} from '@tollgate/core';
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { FastifyContext } from './context.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The decision of the last limiter that counted this request. */
    rateLimit?: Decision;
  }
  interface FastifyContextConfig {
    /** The policy of this route, in place of the plugin's; false: this route is not limited. */
    rateLimit?: PolicySpec<FastifyRequest> | PolicySpec<never> | false;
  }
}

export interface RateLimitOptions extends AdapterOptions {
  /** For every route that names none, and for requests that no route takes. Default: only routes that name one are limited. */
  readonly policy?: PolicySpec<FastifyRequest>;
}

/** What Fastify itself takes with any plugin. */
const REGISTER_OPTIONS = ['prefix', 'logLevel', 'logSerializers'];

// Asynchronous, so that a wrong option rejects `register` instead of being thrown where nobody can catch it.
const plugin: FastifyPluginAsync<RateLimitOptions> = async (fastify, options) => {
  checkOptions('rateLimit', options, ['limiter', 'policy', ...REGISTER_OPTIONS]);
  const limiter = limiterOf(options);
  const { policy = false } = options;
  if (policy !== false) limiter.register(policy);

  fastify.addHook('onRoute', ({ config }) => {
    if (config?.rateLimit !== undefined && config.rateLimit !== false) limiter.register(config.rateLimit);
  });
  fastify.addHook('onRequest', (request, reply, next) => {
    // A policy may be written for the request of its own route; that it is on that route is the application's word.
    const spec = (request.routeOptions.config.rateLimit ?? policy) as PolicySpec<FastifyRequest> | false;
    if (spec === false) return next();
    const ctx = new FastifyContext(request, reply);
    const answered = andThen(limiter.check(ctx, spec), (decision) => {
      if (decision === undefined) return next();
      request.rateLimit = decision;
      const answer = limiter.reply(decision, ctx, (name) => reply.getHeader(name));
      return andThen(answer, (ready) => write(ready, reply, next));
    });
    if (isPromise(answered)) answered.then(undefined, next);
  });
};

function write({ status, headers, remove, text }: Reply, reply: FastifyReply, next: () => void): void {
  // Somebody answered meanwhile: Fastify goes no further.
  if (reply.sent) return;
  for (const name of remove) void reply.removeHeader(name);
  for (const [name, value] of headers) void reply.header(name, value);
  if (status === undefined) return next();
  // As bytes: to a string Fastify adds a charset, which problem details do not have.
  void reply.code(status).send(new TextEncoder().encode(text));
}

/**
 * Limits every route of the scope that it is registered in.
 * @example await app.register(rateLimit, { limiter, policy: read() })
 */
export const rateLimit: FastifyPluginAsync<RateLimitOptions> = fastifyPlugin(plugin, {
  name: '@tollgate/fastify',
  fastify: '>=4.26.0',
});
