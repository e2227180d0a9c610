import { checkInteger, invalid, isRecord, pathTo } from '../options.ts';

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
  checkTiers('byTier', tiers, Number.MAX_SAFE_INTEGER);
  return { tiers: Object.freeze({ ...tiers }) };
}

/** @throws ConfigError when there is no tier, or a limit is not a whole number from 0 to `most` */
export function checkTiers(option: string, tiers: unknown, most: number): void {
  if (!isRecord(tiers) || Object.keys(tiers).length === 0) invalid(option, 'an object of limits by tier', tiers);
  for (const [name, limit] of Object.entries(tiers)) checkInteger(pathTo(option, name), limit, 0, most);
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
