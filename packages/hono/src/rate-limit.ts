import {
  type AdapterOptions,
  checkFunction,
  checkOptions,
  type ClientIpOptions,
  createClientIp,
  type Decision,
  isPromise,
  limiterOf,
  type PolicySpec,
  type Reply,
} from '@tollgate/core';
import type { Context, MiddlewareHandler } from 'hono';
import { HonoContext, socketAddress } from './context.ts';

/** What the middleware adds to the context: `c.get('rateLimit')`. */
export interface RateLimitVariables {
  /** The decision of the last limiter that counted this request. */
  rateLimit?: Decision;
}

export interface RateLimitOptions extends AdapterOptions, ClientIpOptions {
  /**
   * The client's address, where `trustProxy` and `header` cannot say it. Default: the peer of the connection on Node
   * (under `@hono/node-server`), or what a trusted peer says.
   */
  readonly clientIp?: (c: Context) => string | undefined;
}

/**
 * Limits what runs after it.
 * @param spec a policy, several decided together, or a function of the request
 * @throws ConfigError when the policy or an option is wrong
 * @example app.use(rateLimit(read(), { limiter }))
 */
export function rateLimit(
  spec: PolicySpec<Context>,
  options: RateLimitOptions = {},
): MiddlewareHandler<{ Variables: RateLimitVariables }> {
  checkOptions('rateLimit', options, ['limiter', 'clientIp', 'trustProxy', 'header']);
  checkFunction('rateLimit.clientIp', options.clientIp);
  const limiter = limiterOf(options);
  const fromPeer = createClientIp(options, 'rateLimit');
  const { clientIp = (c: Context) => fromPeer(socketAddress(c), (name) => c.req.header(name)) } = options;
  limiter.register(spec);

  return async function rateLimit(c, next) {
    const ctx = new HonoContext(c, clientIp);
    const pending = limiter.check(ctx, spec);
    const decision = isPromise(pending) ? await pending : pending;
    if (decision === undefined) return next();
    c.set('rateLimit', decision);
    // Headers go onto the final response, once: set before the handler, they slow every response down.
    if (decision.allowed) await next();
    ctx.finished();
    const { status, headers, remove, text } = await limiter.reply(decision, ctx, (name) => c.res.headers.get(name));
    if (status === undefined) return setHeaders(c, headers);
    // Through the context: what is there already would win over the headers of a new response.
    for (const name of remove) c.header(name, undefined);
    for (const [name, value] of headers) c.header(name, value);
    return c.body(text, status as 429);
  };
}

function setHeaders(c: Context, headers: Reply['headers']): void {
  try {
    for (const [name, value] of headers) c.res.headers.set(name, value);
  } catch {
    // The response of a fetch() is immutable: a copy is not.
    c.res = new Response(c.res.body, c.res);
    for (const [name, value] of headers) c.res.headers.set(name, value);
  }
}
