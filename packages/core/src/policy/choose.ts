import type { RequestContext } from '../context.ts';
import { andThen, type MaybePromise } from '../maybe.ts';
import { invalid } from '../options.ts';
import type { Policy } from './policy.ts';

type Chosen<R> = Policy<R> | readonly Policy<R>[] | false;

/** What a middleware is given: a policy, several decided together, or a chooser (false: this request is not counted). */
export type PolicySpec<R = unknown> =
  | Policy<R>
  | readonly Policy<R>[]
  | ((ctx: RequestContext<R>) => MaybePromise<Chosen<R>>);

/** The policies of a request. */
export function choosePolicies<R>(spec: PolicySpec<R>, ctx: RequestContext<R>): MaybePromise<readonly Policy<R>[]> {
  return typeof spec === 'function' ? andThen(spec(ctx), listPolicies) : listPolicies(spec);
}

/** The policies that are known before any request; a chooser's come with the requests. */
export function declaredPolicies<R>(spec: PolicySpec<R>): readonly Policy<R>[] {
  if (typeof spec === 'function') return [];
  if ((spec as unknown) === false || (Array.isArray(spec) && spec.length === 0))
    invalid('policy', 'at least one policy', spec);
  return listPolicies(spec);
}

function listPolicies<R>(chosen: Chosen<R>): readonly Policy<R>[] {
  if (chosen === false) return [];
  if (!Array.isArray(chosen)) return [checkPolicy(chosen as Policy<R>)];
  for (const policy of chosen as readonly Policy<R>[]) checkPolicy(policy);
  return chosen as readonly Policy<R>[];
}

function checkPolicy<R>(policy: Policy<R>): Policy<R> {
  if (
    typeof policy === 'object' &&
    policy !== null &&
    Array.isArray(policy.limits) &&
    typeof policy.shape === 'string'
  ) {
    return policy;
  }
  return invalid('policy', 'a policy made by definePolicy() or a preset, an array of these, or a function', policy);
}

/** A CORS preflight is the browser's question, not the client's request: counting it would halve every budget. */
export function isPreflight(ctx: RequestContext): boolean {
  return (
    ctx.method === 'OPTIONS' &&
    ctx.header('origin') !== undefined &&
    ctx.header('access-control-request-method') !== undefined
  );
}
