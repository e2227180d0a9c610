import { andThen, type Decision, type Limiter, type MaybePromise, type PolicySpec, writeHeaders } from '@tollgate/core';
import type { Call } from './call.ts';
import type { HttpRequest, NestContext } from './context.ts';
import { deny, fieldsOf, isOpen } from './response.ts';

/** A call on its way through guards and interceptors. */
interface Passage {
  readonly call: Call;
  readonly limiter: Limiter;
  readonly spec: PolicySpec<HttpRequest>;
  readonly ctx: NestContext;
  decision: Decision | undefined;
  /** Takes the header fields of the last decision back. */
  takeBack: () => void;
}

/** By their requests. In HTTP there is one for each limiter and policy, in GraphQL they follow each other. */
const passages = new WeakMap<HttpRequest, Passage[]>();

/** Decides a call, or decides it again when it was decided before. @throws RateLimitException (or rejects with it) */
export function enforce(call: Call, limiter: Limiter, spec: PolicySpec<HttpRequest>): MaybePromise<void> {
  const all = passages.get(call.request) ?? [];
  const before = all.find((passage) => passage.limiter === limiter && passage.spec === spec);
  if (before?.call.key === call.key) return decideAgain(before);
  // The next field of a GraphQL request tells what is left in place of the one before.
  const takeBack = (): void => (before?.decision?.allowed === true ? before.takeBack() : undefined);
  const passage: Passage = { call, limiter, spec, ctx: call.createContext(), decision: undefined, takeBack };
  passages.set(call.request, [...all.filter((other) => other !== before), passage]);
  return andThen(limiter.check(passage.ctx, spec), (decision) => settle(decision, passage));
}

/** Decides a call again that a guard has decided, now that all guards have run. @throws as `enforce` */
export function enforceAgain(call: Call, limiter: Limiter): MaybePromise<void> {
  const mine = passages.get(call.request)?.filter((one) => one.limiter === limiter && one.call.key === call.key) ?? [];
  return mine.reduce<MaybePromise<void>>((done, passage) => andThen(done, () => decideAgain(passage)), undefined);
}

/** Authentication may have named a user since: the client's charge is given back, and the user is charged. */
function decideAgain(passage: Passage): MaybePromise<void> {
  const { limiter, ctx, spec, decision } = passage;
  return andThen(limiter.recheck(ctx, spec, decision), (again) => settle(again, passage));
}

function settle(decision: Decision | 'withdrawn' | undefined, passage: Passage): MaybePromise<void> {
  if (decision === undefined) return;
  const { call, limiter, ctx } = passage;
  const { request, response } = call;
  const fields = fieldsOf(response);
  if (isOpen(response)) passage.takeBack();
  passage.takeBack = () => {};
  if (decision === 'withdrawn') {
    delete request.rateLimit;
    passage.decision = undefined;
    return;
  }
  request.rateLimit = decision;
  passage.decision = decision;
  return andThen(limiter.reply(decision, ctx, fields.get), (reply) => {
    // Somebody answered meanwhile, such as a timeout: nothing can be written, and what is denied still does not go on.
    if (isOpen(response)) {
      const headers = reply.headers.filter(([name]) => name !== 'Content-Type');
      passage.takeBack = writeHeaders({ ...reply, headers }, fields);
    }
    if (reply.status !== undefined) deny(reply, call);
  });
}
