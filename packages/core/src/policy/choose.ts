import type { RequestContext } from '../context.ts';
import { andThen, type MaybePromise } from '../maybe.ts';
import { invalid } from '../options.ts';
import type { Policy } from './policy.ts';

type Chosen<R> = Policy<R> | readonly Policy<R>[] | false;

/** Chooses the policies of a request; false, or an empty array: this request is not counted. */
export interface Chooser<R = unknown> {
  (ctx: RequestContext<R>): MaybePromise<Chosen<R>>;
  /** What it may choose, as far as it is known before any request. */
  readonly policies?: readonly Policy<R>[];
}

/** What a middleware is given: a policy, several decided together, or a chooser. */
export type PolicySpec<R = unknown> = Policy<R> | readonly Policy<R>[] | Chooser<R>;

/** The policies of a request. */
export function choosePolicies<R>(spec: PolicySpec<R>, ctx: RequestContext<R>): MaybePromise<readonly Policy<R>[]> {
  return typeof spec === 'function' ? andThen(spec(ctx), listPolicies) : listPolicies(spec);
}

/** The policies that are known before any request; those of a chooser that names none come with the requests. */
export function declaredPolicies<R>(spec: PolicySpec<R>): readonly Policy<R>[] {
  if (typeof spec === 'function') return listPolicies(spec.policies ?? []);
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
  if (isPolicy(policy)) return policy;
  return invalid('policy', 'a policy made by definePolicy() or a preset, an array of these, or a function', policy);
}

export function isPolicy(value: unknown): value is Policy<never> {
  const { limits, shape } = (value ?? {}) as Partial<Policy>;
  return Array.isArray(limits) && typeof shape === 'string';
}

/**
 * A CORS preflight is the browser's question, not the client's request: counting it would halve every budget. It has no
 * body (Fetch §4.8); one that has would bring its password past the limiter to a handler of all methods.
 */
export function isPreflight(ctx: RequestContext): boolean {
  return (
    ctx.method === 'OPTIONS' &&
    ctx.header('origin') !== undefined &&
    ctx.header('access-control-request-method') !== undefined &&
    (ctx.header('content-length') ?? '0') === '0' &&
    BODY_FIELDS.every((name) => ctx.header(name) === undefined)
  );
}

/** Over HTTP/2 a body needs no length, but no parser reads one without its type. */
const BODY_FIELDS = ['transfer-encoding', 'content-type'];
