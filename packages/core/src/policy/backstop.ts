import type { Controlled, Limit } from './policy.ts';
import { rulesOf } from './prepare-limit.ts';
import { pathOf, type RuleFrame, toRules } from './rules.ts';

/** The first of them that a limit counts by says when its backstop is due. */
const CONTROLLED: readonly Controlled[] = ['apiKey', 'identity', 'user', 'ip'];

function isControlled(part: unknown): boolean {
  return (CONTROLLED as readonly unknown[]).includes(part);
}

/**
 * Whether a limit needs a backstop beside the policy's limits by `ip`: those bound what one address can spend with any
 * number of identities, if they always count, and are no wider than the backstop would be.
 */
export function needsBackstop<R>(limit: Limit<R>, all: readonly Limit<R>[], factor: number): boolean {
  if (!limit.per.some(isControlled)) return false;
  if (limit.per.includes('ip')) return true;
  return !all.some(
    ({ per, limit: units, when, ownCost, frame, rule }) =>
      per.length === 1 &&
      per[0] === 'ip' &&
      when === undefined &&
      !ownCost &&
      // Units of another cost are not the same units.
      !limit.ownCost &&
      typeof units === 'number' &&
      units <= limit.rule.limit * factor &&
      rule.burst <= limit.rule.burst * factor &&
      frame.windowMs >= limit.frame.windowMs,
  );
}

/** The sibling of a limit that a client could widen by rotating its user agent, API key or address. */
export function toBackstop<R>(policy: string, limit: Limit<R>, factor: number): Limit<R> {
  const name = `${limit.name}~site`;
  const { algorithm, windowMs } = limit.frame;
  const frame: RuleFrame = {
    ...limit.frame,
    factor,
    isShaping: false,
    // A block is for the one who exceeded, not for everybody who shares the site.
    blockMs: 0,
    path: pathOf(policy, name, algorithm, windowMs),
    name: `${limit.frame.name}~site`,
    disclosed: false,
  };
  const first = toRules(frame, limit.strict.rule.limit);
  return {
    ...limit,
    // Others share it: one caller's success is not theirs.
    resetWhen: undefined,
    name,
    frame,
    ...first,
    rulesOf: rulesOf(frame, typeof limit.limit === 'number' ? first : undefined),
    per: [...new Set(limit.per.map((part) => (isControlled(part) ? 'site' : part)))],
    backstopOf: CONTROLLED.find((part) => limit.per.includes(part)),
  };
}
