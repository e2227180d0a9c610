import type { RequestContext, Resolver } from '../context.ts';
import type { WarningListener } from '../warnings.ts';
import { UNKNOWN_ADDRESS } from '../identity/client-ip.ts';
import type { Caller } from '../identity/identity.ts';
import { type Known, type Place, toPlace, type Unresolved } from '../identity/partition.ts';
import { andThen, isPromise, mapInOrder, type MaybePromise } from '../maybe.ts';
import type { Ask } from './ask.ts';
import { createNumbers } from './numbers.ts';
import type { Controlled, Limit, LimitRules, Policy, QuotaRule, ResponseTest } from './policy.ts';

/** One limit of one request, ready to be decided: whose counter, by which rule, how much. */
export interface Charge extends Place {
  readonly rule: QuotaRule;
  readonly localRule: QuotaRule;
  readonly cost: number;
  readonly ownCost: boolean;
  /** Whether the counter is the caller's own, and not shared with everybody of a site, a route or the whole service. */
  readonly isOwn: boolean;
  readonly resetWhen: ResponseTest<never> | undefined;
}

/** One policy of one request, resolved. */
export interface PolicyCharges {
  readonly policy: Policy<never>;
  readonly charges: readonly Charge[];
}

export function isEmpty(asked: readonly PolicyCharges[]): boolean {
  return asked.every(({ charges }) => charges.length === 0);
}

/** What charges are resolved with: the limiter's own means. */
export interface ChargeMeans {
  readonly hash: (value: string) => string;
  readonly ask: Ask;
  readonly warn: WarningListener;
  readonly tier: Resolver<never, string | undefined> | undefined;
}

/** Resolves partitions, costs and limits of a policy for one request. Limits that do not apply to it are left out. */
export function toCharges<R>(
  policy: Policy<R>,
  ctx: RequestContext<R>,
  caller: Caller,
  means: ChargeMeans,
): MaybePromise<PolicyCharges> {
  const { hash, warn } = means;
  const numbers = createNumbers(policy, ctx, means);
  const known: Known = {};
  const toCharge = (limit: Limit<R>): MaybePromise<Charge | Dropped | undefined> => {
    if (!applies(limit, caller)) return undefined;
    if (limit.when === undefined) return toApplied(limit);
    return andThen(numbers.whenOf(limit.when), (applied) => (applied ? toApplied(limit) : undefined));
  };
  const toApplied = (limit: Limit<R>): MaybePromise<Charge | Dropped> => {
    const place = toPlace(limit.per, ctx, caller, hash, known);
    const rules = numbers.rulesOf(limit);
    if (isPromise(place) || isPromise(rules)) {
      return Promise.all([place, rules]).then(([where, by]) =>
        andThen(numbers.costOf(limit, by), (cost) => chargeOf(limit, by, where, cost)),
      );
    }
    return andThen(numbers.costOf(limit, rules), (cost) => chargeOf(limit, rules, place, cost));
  };

  return andThen(mapInOrder(policy.limits, toCharge), (resolved) => {
    const charges: Charge[] = [];
    let dropped: Dropped | undefined;
    for (const charge of resolved) {
      if (charge === undefined) continue;
      if ('partition' in charge) {
        charges.push(charge);
      } else if (charge.custom) {
        const sentence = `Partition "${charge.part}" of policy "${policy.name}" had no value: its limits were not counted.`;
        warn('partition-unresolved', sentence);
        dropped ??= charge;
      }
    }
    // A resolver that fails must not turn a policy off: its first limit then counts by client address.
    if (charges.length === 0 && dropped !== undefined) {
      const { client, site } = caller.address;
      const { limit, rules, cost } = dropped;
      charges.push(chargeOf(limit, rules, { partition: `ip,${client}`, tag: site }, cost) as Charge);
    }
    return { policy, charges };
  });
}

/** A limit whose partition has no value for this request. */
interface Dropped {
  readonly limit: Limit<never>;
  readonly rules: LimitRules;
  readonly cost: number;
  readonly part: string;
  readonly custom: boolean;
}

function chargeOf<R>(limit: Limit<R>, rules: LimitRules, place: Place | Unresolved, cost: number): Charge | Dropped {
  if (!('partition' in place)) return { limit, rules, cost, ...place };
  const { ownCost, backstopOf, resetWhen } = limit;
  const { partition, tag } = place;
  const isBackstop = backstopOf !== undefined;
  const { rule, localRule } = isBackstop && tag === UNKNOWN_ADDRESS.site ? rules.strict : rules;
  const isOwn = !isBackstop && limit.per.some((part) => part !== 'route' && part !== 'global');
  return { rule, localRule, partition, tag, cost, ownCost, isOwn, resetWhen };
}

/** When a backstop has something to bound: not for a verified user, and not where an address is a site (IPv4). */
const IS_DUE: Readonly<Record<Controlled, (caller: Caller) => boolean>> = {
  identity: ({ identity }) => !identity.verified,
  apiKey: ({ apiKey }) => apiKey !== undefined,
  user: ({ isVerified }) => !isVerified,
  ip: ({ address }) => address.client !== address.site,
};

function applies<R>({ backstopOf }: Limit<R>, caller: Caller): boolean {
  return backstopOf === undefined || IS_DUE[backstopOf](caller);
}
