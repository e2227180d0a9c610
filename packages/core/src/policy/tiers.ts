import { checkInteger, invalid } from '../options.ts';

/** A limit by the caller's tier, which the limiter's `tier` tells. */
export interface Tiers {
  readonly tiers: Readonly<Record<string, number>>;
}

/**
 * Limits by tier. The number is not part of a counter's key, so a change of tier works at once and gives no second budget.
 * A caller whose tier is unknown has the lowest limit.
 * @example definePolicy({ name: 'api', limits: [{ limit: byTier({ free: 100, pro: 1000 }), window: '1m' }] })
 * @throws ConfigError when there is no tier, or a limit is not a whole number from 0
 */
export function byTier(tiers: Readonly<Record<string, number>>): Tiers {
  if (typeof tiers !== 'object' || tiers === null || Object.keys(tiers).length === 0) {
    invalid('byTier', 'an object of limits by tier', tiers);
  }
  for (const [name, limit] of Object.entries(tiers)) checkInteger(`byTier.${name}`, limit, 0, Number.MAX_SAFE_INTEGER);
  return { tiers: Object.freeze({ ...tiers }) };
}

export function isTiers(limit: unknown): limit is Tiers {
  return typeof limit === 'object' && limit !== null && 'tiers' in limit;
}

export function lowestOf({ tiers }: Tiers): number {
  return Math.min(...Object.values(tiers));
}

/** Own properties only: a tier named `constructor` is no tier. */
export function limitOfTier({ tiers }: Tiers, tier: unknown): number | undefined {
  return typeof tier === 'string' && Object.hasOwn(tiers, tier) ? tiers[tier] : undefined;
}
