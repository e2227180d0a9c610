import {
  type AdapterOptions,
  checkOptions,
  type Decision,
  isPromise,
  limiterOf,
  type PolicySpec,
  toReply,
} from '@tollgate/core';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
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

/**
 * Limits what runs after it: everything with `app.use`, one route as one of its handlers.
 * @param spec a policy, several decided together, or a function of the request
 * @throws ConfigError when the policy or an option is wrong
 * @example app.use(rateLimit(read(), { limiter }))
 */
export function rateLimit(spec: PolicySpec<Request>, options: AdapterOptions = {}): RequestHandler {
  checkOptions('rateLimit', options, ['limiter']);
  const limiter = limiterOf(options);
  limiter.register(spec);

  return function rateLimit(req, res, next) {
    const decision = limiter.check(new ExpressContext(req, res), spec);
    if (isPromise(decision)) decision.then((late) => answer(late, req, res, next)).then(undefined, next);
    else answer(decision, req, res, next);
  };
}

function answer(decision: Decision | undefined, req: Request, res: Response, next: NextFunction): void {
  if (decision === undefined) return next();
  req.rateLimit = decision;
  // Somebody answered meanwhile, such as a timeout: nothing can be written, and what is denied still does not go on.
  if (res.headersSent) return decision.allowed ? next() : undefined;
  const { status, headers, remove, body } = toReply(decision, (name) => res.getHeader(name));
  for (const name of remove) res.removeHeader(name);
  for (const [name, value] of headers) res.setHeader(name, value);
  if (status === undefined) return next();
  res.statusCode = status;
  // Not res.json(): its ETag and 304 make no sense for an answer that must not be stored.
  res.end(JSON.stringify(body));
}
