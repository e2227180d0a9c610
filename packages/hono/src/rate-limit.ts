import {
  type AdapterOptions,
  checkOptions,
  type Decision,
  isPromise,
  limiterOf,
  type MaybePromise,
  type PolicySpec,
  type Reply,
} from '@tollgate/core';
import type { Context, MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { type AddressOptions, clientIpOf } from './address.ts';
import { HonoContext } from './context.ts';

/** What the middleware adds to the context: `c.get('rateLimit')`. */
export interface RateLimitVariables {
  /** The decision of the last limiter that counted this request. */
  rateLimit?: Decision;
}

export interface RateLimitOptions extends AdapterOptions, AddressOptions {}

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
  const limiter = limiterOf(options);
  const clientIp = clientIpOf(options);
  limiter.register(spec);

  return async function rateLimit(c, next) {
    const ctx = new HonoContext(c, clientIp);
    const pending = limiter.check(ctx, spec);
    const decision = isPromise(pending) ? await pending : pending;
    if (decision === undefined) return next();
    c.set('rateLimit', decision);
    const reply = (): MaybePromise<Reply> => limiter.reply(decision, ctx, (name) => c.res.headers.get(name));
    if (!decision.allowed) {
      const response = answer(c, await reply());
      ctx.finished(response);
      return response;
    }
    try {
      await next();
    } catch (error) {
      // By notFound() or onError() itself, or no Error at all. Whoever answers that does so later, and through the context.
      ctx.finished({ status: error instanceof HTTPException ? error.status : 500, headers: c.res.headers });
      prepare(c, await reply());
      throw error;
    }
    ctx.finished(c.res);
    setHeaders(c, (await reply()).headers);
  };
}

function answer(c: Context, reply: Reply): Response {
  prepare(c, reply);
  return c.body(reply.text, reply.status as 429);
}

/** Through the context, for a response that is yet to be made: what is there already would win over headers of its own. */
function prepare(c: Context, { headers, remove }: Reply): void {
  for (const name of remove) c.header(name, undefined);
  for (const [name, value] of headers) c.header(name, value);
}

/** Onto the final response, once: headers that are set before the handler slow every response down. */
function setHeaders(c: Context, headers: Reply['headers']): void {
  // 101 is a WebSocket's: the runtime shakes hands with this very object. 0 is Response.error().
  if (c.res.status < 200) return;
  try {
    for (const [name, value] of headers) c.res.headers.set(name, value);
  } catch {
    // The response of a fetch() is immutable: a copy is not.
    c.res = new Response(c.res.body, c.res);
    for (const [name, value] of headers) c.res.headers.set(name, value);
  }
}
