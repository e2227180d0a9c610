import type { ConfigError } from '../errors.ts';
import type { RequestContext } from '../context.ts';
import { andThen, mapInOrder, type MaybePromise } from '../maybe.ts';
import { invalid } from '../options.ts';
import type { WarningListener } from '../warnings.ts';
import type { Ask } from './ask.ts';
import { choosePolicies, declaredPolicies, type PolicySpec } from './choose.ts';
import type { Policy } from './policy.ts';
import { auth } from './auth.ts';
import { checkShaping, definePolicy } from './define-policy.ts';
import { expensive, read } from './presets.ts';
import { routes } from './routes.ts';
import { createRegistry } from './registry.ts';
import { isTiers } from './tiers.ts';

/** Which policies a request is to be charged by. */
export interface Selection {
  /** @throws ConfigError when a policy of that name with other limits is known already */
  register<R>(spec: PolicySpec<R>): void;
  /** The policies of a request. */
  all<R>(spec: PolicySpec<R>, ctx: RequestContext<R>): MaybePromise<readonly Policy<R>[]>;
  /** Whether what counts for a request may be another later on, when its body is parsed and its user is known. */
  varies<R>(spec: PolicySpec<R>): boolean;
  /** The policies of a request that are not to be skipped; of those that it was charged by, only `mine`. */
  chosen<R>(
    spec: PolicySpec<R>,
    ctx: RequestContext<R>,
    mine: readonly Policy<never>[],
  ): MaybePromise<readonly Policy<R>[]>;
  /** Of these, what the request was not charged before, and what is not to be skipped. */
  due<R>(spec: PolicySpec<R>, ctx: RequestContext<R>): MaybePromise<readonly Policy<R>[]>;
  /** Marks policies as charged to the request; answers those that were not before. */
  claim<R>(policies: readonly Policy<R>[], ctx: RequestContext<R>): readonly Policy<R>[];
  /** Makes claimed policies due again. */
  release<R>(policies: readonly Policy<never>[], ctx: RequestContext<R>): void;
}

/** As choosers they would fail with each request: their parentheses were forgotten. */
const MAKERS: readonly ((...given: never[]) => unknown)[] = [read, expensive, auth, definePolicy, routes];

/** @param knowsTiers whether the limiter can tell a caller's tier */
export function createSelection(ask: Ask, warn: WarningListener, knowsTiers: boolean): Selection {
  const registry = createRegistry();
  const charged = new WeakMap<object, Set<Policy<never>>>();
  const varying = new WeakMap<object, boolean>();

  return {
    register(spec) {
      const maker = MAKERS.find((one): boolean => one === spec);
      if (maker !== undefined) invalid('policy', `what ${maker.name}() answers, and not the function`, spec);
      const policies = declaredPolicies(spec);
      // One that is listed twice is charged once, and shapes once; those of a chooser are alternatives.
      if (typeof spec !== 'function') checkShaping([...new Set(policies)].flatMap(({ limits }) => limits));
      for (const policy of policies) {
        if (!knowsTiers && policy.limits.some(({ limit }) => isTiers(limit))) {
          invalid('limiter.tier', `a function, since policy "${policy.name}" has limits by tier`, undefined);
        }
        registry.add(policy);
      }
    },
    all,
    varies(spec) {
      let known = varying.get(spec);
      if (known === undefined) varying.set(spec, (known = isVarying(spec)));
      return known;
    },
    chosen,
    due: (spec, ctx) => chosen(spec, ctx, []),
    claim(policies, ctx) {
      const before = chargesOf(ctx.raw);
      const claimed: (typeof policies)[number][] = [];
      for (const policy of policies) {
        if (before.has(policy)) continue;
        before.add(policy);
        claimed.push(policy);
      }
      return claimed;
    },
    release(policies, ctx) {
      const claimed = chargesOf(ctx.raw);
      for (const policy of policies) claimed.delete(policy);
    },
  };

  function chosen<R>(
    spec: PolicySpec<R>,
    ctx: RequestContext<R>,
    mine: readonly Policy<never>[],
  ): MaybePromise<readonly Policy<R>[]> {
    return andThen(all(spec, ctx), (policies) => {
      const before = charged.get(ctx.raw as object);
      const fresh =
        before === undefined ? policies : policies.filter((policy) => !before.has(policy) || mine.includes(policy));
      if (!fresh.some(({ skip }) => skip)) return fresh;
      return andThen(
        mapInOrder(fresh, ({ skip }) => (skip === undefined ? false : ask(skip, ctx, 'skip'))),
        (skipped) => fresh.filter((_, i) => skipped[i] !== true),
      );
    });
  }

  function all<R>(spec: PolicySpec<R>, ctx: RequestContext<R>): MaybePromise<readonly Policy<R>[]> {
    return andThen(choosePolicies(spec, ctx), (policies) => {
      for (const policy of policies) meet(policy);
      return policies;
    });
  }

  /** A policy that only a request brings up is not worth failing that request: its limits count as they are. */
  function meet(policy: Policy<never>): void {
    try {
      registry.add(policy);
    } catch (error) {
      warn('policy-name-conflict', (error as ConfigError).sentence);
    }
  }

  function chargesOf(request: unknown): Set<Policy<never>> {
    if (typeof request !== 'object' || request === null) return new Set();
    let policies = charged.get(request);
    if (policies === undefined) charged.set(request, (policies = new Set()));
    return policies;
  }
}

function isVarying<R>(spec: PolicySpec<R>): boolean {
  if (typeof spec === 'function' && spec.policies === undefined) return true;
  return declaredPolicies(spec).some(({ skip }) => skip !== undefined);
}
