import {
  type AdapterOptions,
  type AnyPolicy,
  checkOptions,
  type Decision,
  limiterOf,
  type MaybePromise,
  type PolicySpec,
  type RequestContext,
} from '@tollgate/core';
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest, RouteOptions } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { coverageOf, type RouteCoverage } from './coverage.ts';
import { createHooks, type Hooks } from './hooks.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** How each route that was declared after the plugin is limited, to be looked at (or asserted) when all are declared. */
    rateLimitCoverage(): readonly RouteCoverage[];
  }
  interface FastifyRequest {
    /** The decision of the last limiter that counted this request. */
    rateLimit?: Decision;
  }
  interface FastifyContextConfig {
    /** The policy of this route, in place of the plugin's; false: this route is not limited. */
    rateLimit?: RoutePolicy | false;
  }
}

/**
 * What a route is given. A policy may be written for the request of its own route (`FastifyRequest<{ Body: … }>`), which
 * Fastify's types do not let a plugin see.
 */
export type RoutePolicy =
  | AnyPolicy
  | readonly AnyPolicy[]
  | ((ctx: RequestContext<FastifyRequest>) => MaybePromise<AnyPolicy | readonly AnyPolicy[] | false>);

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
  if (options.policy !== undefined) limiter.register(options.policy);
  const { policy = false } = options;
  const hooks = createHooks(limiter, policy);
  const coverage: RouteCoverage[] = [];

  fastify.addHook('onRoute', (route) => {
    const own = route.config?.rateLimit as PolicySpec<FastifyRequest> | false | undefined;
    if (own !== undefined && own !== false) limiter.register(own);
    coverage.push(coverageOf(route, own ?? policy, own === false));
    askAgainLast(route, hooks);
  });
  addHooks(fastify, hooks);
  for (const child of childrenOf(fastify)) addHooks(child, hooks);
  if (!fastify.hasDecorator('rateLimitCoverage')) fastify.decorate('rateLimitCoverage', () => coverage);
};

function addHooks(scope: FastifyInstance, { onRequest, preValidation, preHandler }: Hooks): void {
  scope.addHook('onRequest', onRequest);
  scope.addHook('preValidation', preValidation);
  // For routes that were declared before the plugin.
  scope.addHook('preHandler', preHandler);
}

/** Behind the route's own hooks, of which one may be its authentication. */
function askAgainLast(route: RouteOptions, { preHandler }: Hooks): void {
  route.preHandler = [...[route.preHandler ?? []].flat(), preHandler];
}

/** Scopes that were made before the plugin: they copied the hooks of their parent then, and would not be limited. */
function childrenOf(fastify: FastifyInstance): FastifyInstance[] {
  // Under a symbol of Fastify's own; where that changes, the plugin has to be registered first.
  const symbol = Object.getOwnPropertySymbols(fastify).find(({ description }) => description === 'fastify.children');
  const children = symbol === undefined ? [] : (fastify as unknown as Record<symbol, FastifyInstance[]>)[symbol];
  return (children ?? []).concat((children ?? []).flatMap(childrenOf));
}

/**
 * Limits every route of the scope that it is registered in.
 * @example await app.register(rateLimit, { limiter, policy: read() })
 */
export const rateLimit: FastifyPluginAsync<RateLimitOptions> = fastifyPlugin(plugin, {
  name: '@tollgate/fastify',
  fastify: '>=4.26.0',
});
