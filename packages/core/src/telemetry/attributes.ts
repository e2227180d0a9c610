import type { Attributes } from '@opentelemetry/api';
import type { DenialReason } from '../algorithms/algorithm.ts';
import type { DecisionSource } from '../decision.ts';
import { OTHER } from './names.ts';

/** Policies are few; one that makes up names per request must not make a series of each (GMS-2023-2906). */
const MAX_POLICIES = 200;
/** Of one policy name: 16 limits and their siblings, and as many again where two policies share the name. */
const MAX_LIMITS = 64;

export type OutcomeName = 'allowed' | 'denied';

/** The attributes of one policy's measurements, made once: what a client can choose is in none of them. */
export interface PolicyAttributes {
  readonly decisions: Readonly<Record<OutcomeName, (source: DecisionSource) => Attributes>>;
  readonly degraded: (source: DecisionSource) => Attributes;
  readonly shadow: Readonly<Record<OutcomeName, Attributes>>;
  readonly limit: (name: string) => LimitAttributes;
}

export interface LimitAttributes {
  readonly nearLimit: Attributes;
  readonly denied: (reason: DenialReason) => Attributes;
}

export function createPolicyAttributes(): (policy: string) => PolicyAttributes {
  return byName(MAX_POLICIES, toPolicyAttributes);
}

function toPolicyAttributes(policy: string): PolicyAttributes {
  const decisions = (outcome: OutcomeName) =>
    byName<Attributes, DecisionSource>(Infinity, (source) => ({ policy, outcome, source }));
  return {
    decisions: { allowed: decisions('allowed'), denied: decisions('denied') },
    degraded: byName<Attributes, DecisionSource>(Infinity, (source) => ({ policy, source })),
    shadow: { allowed: { policy, outcome: 'allowed' }, denied: { policy, outcome: 'denied' } },
    limit: byName(policy === OTHER ? 0 : MAX_LIMITS, (limit) => ({
      nearLimit: { policy, limit },
      denied: byName<Attributes, DenialReason>(Infinity, (reason) => ({ policy, limit, reason })),
    })),
  };
}

/** A value for each name, made once; the names beyond the first `max` share one. */
function byName<T, N extends string = string>(max: number, make: (name: N) => T): (name: N) => T {
  const made = new Map<string, T>();
  let other: T | undefined;
  return (name) => {
    const known = made.get(name);
    if (known !== undefined) return known;
    if (made.size >= max) return (other ??= make(OTHER as N));
    const value = make(name);
    made.set(name, value);
    return value;
  };
}
