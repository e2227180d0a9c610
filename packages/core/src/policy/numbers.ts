import type { RequestContext, Resolver } from '../context.ts';
import { andThen, type MaybePromise } from '../maybe.ts';
import type { ChargeMeans } from './charge.ts';
import type { Limit, LimitRules, Policy } from './policy.ts';
import { isTiers, limitOfTier, lowestOf, type Tiers } from './tiers.ts';

/** The numbers of a policy that only a request knows. Each resolver is asked once per request, however many limits share it. */
export interface Numbers<R> {
  rulesOf(limit: Limit<R>): MaybePromise<LimitRules>;
  costOf(limit: Limit<R>, rules: LimitRules): MaybePromise<number>;
  /** Whether a limit counts the request; only a clear no leaves it out. */
  whenOf(when: Resolver<R, boolean>): MaybePromise<boolean>;
}

export function createNumbers<R>(
  policy: Policy<R>,
  ctx: RequestContext<R>,
  { ask, warn, tier }: ChargeMeans,
): Numbers<R> {
  let known: Map<unknown, MaybePromise<unknown>> | undefined;
  const once = <T>(resolver: Resolver<R, T>, name: string): MaybePromise<T | undefined> => {
    known ??= new Map();
    if (!known.has(resolver)) known.set(resolver, ask(resolver, ctx, name));
    return known.get(resolver) as MaybePromise<T | undefined>;
  };

  return {
    rulesOf(limit) {
      const { limit: source, most } = limit;
      if (typeof source === 'number') return limit;
      if (isTiers(source)) return andThen(unitsOfTier(source), (units) => limit.rulesOf(units));
      return andThen(once(source, 'limit'), (units) => {
        if (isUnits(units, most)) return limit.rulesOf(units);
        warn(
          'limit-unusable',
          `A limit of policy "${policy.name}" was no whole number from 0 to ${most}: the request is denied.`,
        );
        return limit.rulesOf(0);
      });
    },
    costOf({ cost }, { wholeCost }) {
      if (typeof cost === 'number') return cost;
      return andThen(once(cost, 'cost'), (units) => {
        if (isUnits(units, Number.MAX_SAFE_INTEGER)) return units;
        // More than can be counted is more than any limit: it never passes, and is no reason to let it pass once.
        if (typeof units === 'number' && units > Number.MAX_SAFE_INTEGER) return Number.MAX_SAFE_INTEGER;
        warn(
          'cost-unusable',
          `The cost of policy "${policy.name}" was no whole number from 0: the request costs the whole limit.`,
        );
        // Never a free pass: NaN, a negative number or an error may be what an attacker provokes.
        return wholeCost;
      });
    },
    // What a preset asks by a condition of its own goes by the name that the application knows.
    whenOf: (when) => andThen(once(when, 'asks' in when ? String(when.asks) : 'when'), (answer) => answer !== false),
  };

  function unitsOfTier(tiers: Tiers): MaybePromise<number> {
    const name = tier === undefined ? undefined : once(tier as Resolver<R, string | undefined>, 'tier');
    return andThen(name, (answer) => {
      const units = limitOfTier(tiers, answer);
      if (units !== undefined) return units;
      warn('tier-unknown', `A caller's tier is none of policy "${policy.name}": it has the lowest limit.`);
      return lowestOf(tiers);
    });
  }
}

function isUnits(units: unknown, most: number): units is number {
  return Number.isSafeInteger(units) && (units as number) >= 0 && (units as number) <= most;
}
