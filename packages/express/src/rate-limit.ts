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
import type { Request, Response } from 'express';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ExpressContext } from './context.ts';

declare global {
  // oxlint-disable-next-line typescript/no-namespace -- Express's types are extended by this namespace
  namespace Express {
    interface Request {
      /** The decision of the last limiter that counted this request. */
      rateLimit?: Decision;
    }
  }
}

type Next = (error?: unknown) => void;

/** A middleware that says nothing about the path's parameters: the handlers behind it keep the types of theirs. */
export type RateLimitHandler = (req: IncomingMessage, res: ServerResponse, next: Next) => void;

/**
 * Limits what runs after it: everything with `app.use`, one route as one of its handlers.
 * @param spec a policy, several decided together, or a function of the request
 * @throws ConfigError when the policy or an option is wrong
 * @example app.use(rateLimit(read(), { limiter }))
 */
export function rateLimit(spec: PolicySpec<Request>, options: AdapterOptions = {}): RateLimitHandler {
  checkOptions('rateLimit', options, ['limiter']);
  const limiter = limiterOf(options);
  limiter.register(spec);

  return function rateLimit(incoming, response, next) {
    const [req, res] = [incoming as Request, response as Response];
    const ctx = new ExpressContext(req, res);
    const answered = andThen(limiter.check(ctx, spec), (decision) => {
      if (decision === undefined) return next();
      req.rateLimit = decision;
      const reply = limiter.reply(decision, ctx, (name) => res.getHeader(name));
      return andThen(reply, (ready) => write(ready, res, next));
    });
    if (isPromise(answered)) answered.then(undefined, next);
  };
}

function write({ status, headers, remove, text }: Reply, res: Response, next: Next): void {
  if (res.headersSent) {
    // Somebody answers already, such as a timeout: no field can be written, and what is denied still does not go on.
    if (status === undefined) next();
    else if (!res.writableEnded) res.end();
    return;
  }
  for (const name of remove) res.removeHeader(name);
  for (const [name, value] of headers) res.setHeader(name, value);
  if (status === undefined) return next();
  res.statusCode = status;
  // Not res.json(): its ETag and 304 make no sense for an answer that must not be stored.
  res.end(text);
}
