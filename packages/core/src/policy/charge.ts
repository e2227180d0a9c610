import type { RequestContext, Resolver } from '../context.ts';
import { UNKNOWN_ADDRESS } from '../identity/client-ip.ts';
import type { Caller } from '../identity/identity.ts';
import { type Place, toPlace, type Unresolved } from '../identity/partition.ts';
import { andThen, isPromise, mapInOrder, type MaybePromise } from '../maybe.ts';
import type { Limit, Policy, QuotaRule } from './policy.ts';

/** One limit of one request, ready to be decided: whose counter, by which rule, how much. */
export interface Charge extends Place {
  readonly rule: QuotaRule;
  readonly localRule: QuotaRule;
  readonly cost: number;
  readonly ownCost: boolean;
  readonly isBackstop: boolean;
}

/** One policy of one request, resolved. */
export interface PolicyCharges {
  readonly policy: Policy<never>;
  readonly charges: readonly Charge[];
}

/** Told what a resolver of the application got wrong. */
export type ResolverWarning = (code: 'partition-unresolved' | 'cost-unusable', sentence: string) => void;

/** Resolves partitions and costs of a policy for one request. Limits that do not apply to the request are left out. */
export function toCharges<R>(
  policy: Policy<R>,
  ctx: RequestContext<R>,
  caller: Caller,
  hash: (value: string) => string,
  warn: ResolverWarning,
): MaybePromise<PolicyCharges> {
  // One resolver, one call per request, however many limits share its cost.
  let known: Map<Resolver<R, number>, MaybePromise<number | undefined>> | undefined;
  const costOf = (limit: Limit<R>): MaybePromise<number> => {
    const { cost, wholeCost } = limit;
    if (typeof cost === 'number') return cost;
    known ??= new Map();
    if (!known.has(cost)) known.set(cost, resolveCost(cost, ctx));
    return andThen(known.get(cost), (units) => {
      if (units !== undefined) return units;
      warn(
        'cost-unusable',
        `The cost of policy "${policy.name}" was not a whole number from 0: the request costs the whole limit.`,
      );
      // Never a free pass: NaN, a negative number or an error may be what an attacker provokes.
      return wholeCost;
    });
  };
  const toCharge = (limit: Limit<R>): MaybePromise<Charge | Dropped | undefined> => {
    if (!applies(limit, caller)) return undefined;
    const place = toPlace(limit.per, ctx, caller, hash);
    const cost = costOf(limit);
    if (isPromise(place) || isPromise(cost)) {
      return Promise.all([place, cost]).then(([p, c]) => chargeOf(limit, p, c));
    }
    return chargeOf(limit, place, cost);
  };

  return andThen(mapInOrder(policy.limits, toCharge), (resolved) => {
    const charges: Charge[] = [];
    let dropped: Dropped | undefined;
    for (const charge of resolved) {
      if (charge === undefined) continue;
      if ('partition' in charge) {
        charges.push(charge);
      } else if (charge.custom) {
        warn(
          'partition-unresolved',
          `Partition "${charge.part}" of policy "${policy.name}" had no value: its limits were not counted.`,
        );
        dropped ??= charge;
      }
    }
    // A resolver that fails must not turn a policy off: its first limit then counts by client address.
    if (charges.length === 0 && dropped !== undefined) {
      const { client, site } = caller.address;
      charges.push(chargeOf(dropped.limit, { partition: `ip,${client}`, tag: site }, dropped.cost) as Charge);
    }
    return { policy, charges };
  });
}

/** A limit whose partition has no value for this request. */
interface Dropped {
  readonly limit: Limit<never>;
  readonly cost: number;
  readonly part: string;
  readonly custom: boolean;
}

function chargeOf<R>(limit: Limit<R>, place: Place | Unresolved, cost: number): Charge | Dropped {
  if (!('partition' in place)) return { limit, cost, ...place };
  const { ownCost, backstopOf, strict } = limit;
  const { partition, tag } = place;
  const { rule, localRule } = strict !== undefined && tag === UNKNOWN_ADDRESS.site ? strict : limit;
  return { rule, localRule, partition, tag, cost, ownCost, isBackstop: backstopOf !== undefined };
}

/** A backstop bounds what the client controls: nothing is to bound for a verified user. */
function applies<R>({ backstopOf }: Limit<R>, caller: Caller): boolean {
  if (backstopOf === undefined) return true;
  return backstopOf === 'identity' ? !caller.identity.verified : caller.apiKey !== undefined;
}

function resolveCost<R>(cost: Resolver<R, number>, ctx: RequestContext<R>): MaybePromise<number | undefined> {
  try {
    const units = cost(ctx.raw, ctx);
    return isPromise(units) ? Promise.resolve(units).then(usable, () => undefined) : usable(units);
  } catch {
    return undefined;
  }
}

/** A whole number from 0, or undefined for anything else. */
function usable(units: unknown): number | undefined {
  return Number.isSafeInteger(units) && (units as number) >= 0 ? (units as number) : undefined;
}
