import { ALGORITHMS } from '../algorithms/algorithms.ts';
import { type Held, liveBlock, NOTHING } from '../algorithms/counter.ts';
import type { Adjustment } from './store.ts';
import type { Slot } from './take-all.ts';

/** Makes changes in their order; tells of each whether it changed anything. Twin of the loop in adjust.lua. */
export function adjustAll(adjustments: readonly Adjustment[], slots: readonly Slot[], now: number): readonly boolean[] {
  return adjustments.map((adjustment, i) => {
    const slot = slots[i] as Slot;
    const changed = toChanged(adjustment, slot.held, now);
    if (changed !== undefined) slot.held = changed;
    return changed !== undefined;
  });
}

function toChanged({ kind, charge, units, at }: Adjustment, held: Held, now: number): Held | undefined {
  const { rule } = charge;
  const algorithm = ALGORITHMS[rule.algorithm];
  switch (kind) {
    case 'refund':
      if (held.state === undefined || units === 0) return undefined;
      return withState(held, algorithm.refund(held.state, rule, units, at, now), now);
    case 'debit':
      return units === 0 ? undefined : withState(held, algorithm.debit(held.state, rule, units, now), now);
    case 'reset':
      return held.state === undefined && held.block === undefined ? undefined : NOTHING;
    case 'block':
      return units === 0 ? undefined : { ...held, block: { until: now + units, ms: units } };
    case 'unblock':
    default:
      return liveBlock(held, now).block === undefined ? undefined : { ...held, block: undefined };
  }
}

/** A block that has ended goes with the next write. */
function withState(held: Held, state: object | undefined, now: number): Held | undefined {
  return state === undefined ? undefined : { state, block: liveBlock(held, now).block };
}
