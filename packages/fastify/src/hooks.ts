import {
  andThen,
  type Decision,
  isPromise,
  type Limiter,
  type MaybePromise,
  type PolicySpec,
  type Reply,
  writeHeaders,
} from '@tollgate/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { FastifyContext } from './context.ts';

export type Spec = PolicySpec<FastifyRequest> | false;

type Next = (error?: Error) => void;
type Hook = (request: FastifyRequest, reply: FastifyReply, next: Next) => void;

/** The hooks of one registration, in the order in which a request comes to them. */
export interface Hooks {
  /** Before authentication and before the body: decides what needs neither. */
  readonly onRequest: Hook;
  /** The body is parsed, and nothing was done with it yet: passport checks passwords in a `preValidation` of the route. */
  readonly preValidation: Hook;
  /** Authentication is over: who it named is limited as that user. */
  readonly preHandler: Hook;
}

/** A request on its way. */
interface Passage {
  readonly ctx: FastifyContext;
  readonly spec: PolicySpec<FastifyRequest>;
  /** Not decided before the body is parsed. */
  isLate: boolean;
  decision: Decision | undefined;
  /** Takes the header fields of the decision back. */
  takeBack: () => void;
}

/** @param policy of the routes that name none */
export function createHooks(limiter: Limiter, policy: Spec): Hooks {
  const passages = new WeakMap<FastifyRequest, Passage>();

  return {
    onRequest(request, reply, next) {
      // A policy may be written for the request of its own route; that it is on that route is the application's word.
      const spec = (request.routeOptions.config.rateLimit ?? policy) as Spec;
      if (spec === false) return next();
      const ctx = new FastifyContext(request, reply);
      const passage: Passage = { ctx, spec, isLate: false, decision: undefined, takeBack: () => {} };
      passages.set(request, passage);
      proceed(limiter.checkEarly(ctx, spec), next, (decision) => {
        if (decision !== 'later') return settle(decision, passage, next);
        passage.isLate = true;
        next();
      });
    },
    preValidation(request, reply, next) {
      const passage = passages.get(request);
      if (passage?.isLate !== true) return decideAgain(request, reply, next);
      passage.isLate = false;
      proceed(limiter.check(passage.ctx, passage.spec), next, (decision) => settle(decision, passage, next));
    },
    preHandler: decideAgain,
  };

  function decideAgain(request: FastifyRequest, _reply: FastifyReply, next: Next): void {
    const passage = passages.get(request);
    const again = passage && limiter.recheck(passage.ctx, passage.spec, passage.decision);
    if (passage === undefined || again === undefined) return next();
    proceed(again, next, (decision) => settle(decision, passage, next));
  }

  function settle(decision: Decision | 'withdrawn' | undefined, passage: Passage, next: Next): MaybePromise<void> {
    if (decision === undefined) return next();
    const { ctx } = passage;
    const { raw: request, reply } = ctx;
    passage.takeBack();
    passage.takeBack = () => {};
    if (decision === 'withdrawn') {
      delete request.rateLimit;
      passage.decision = undefined;
      return next();
    }
    request.rateLimit = decision;
    passage.decision = decision;
    return andThen(
      limiter.reply(decision, ctx, (name) => reply.getHeader(name)),
      (answer) => {
        // Somebody answered meanwhile: Fastify goes no further.
        if (reply.sent) return;
        passage.takeBack = writeHeaders(answer, fieldsOf(reply));
        if (answer.status !== undefined) return deny(answer, reply);
        next();
      },
    );
  }
}

/** Goes on at once with what is there already. A failure (of a chooser of policies) is the error handler's. */
function proceed<T>(value: MaybePromise<T>, next: Next, then: (value: T) => MaybePromise<void>): void {
  const done = andThen(value, then);
  if (isPromise(done)) done.then(undefined, next);
}

function deny({ status, text }: Reply, reply: FastifyReply): void {
  // As bytes: to a string Fastify adds a charset, which problem details do not have.
  void reply.code(status as number).send(new TextEncoder().encode(text));
}

function fieldsOf(reply: FastifyReply): Parameters<typeof writeHeaders>[1] {
  return {
    get: (name) => reply.getHeader(name),
    set: (name, value) => reply.header(name, value),
    remove: (name) => reply.removeHeader(name),
  };
}
