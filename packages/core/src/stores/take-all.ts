import type { Answer } from '../algorithms/algorithm.ts';
import { advance, type Advance, type Held } from '../algorithms/counter.ts';
import type { Charge } from '../policy/charge.ts';
import type { Taken } from './store.ts';

/** Where a charge is counted: the same object for charges that share a counter. */
export interface Slot {
  held: Held;
}

/**
 * Decides the limits of one request: all are charged, or none is. Twin of the loop in take.lua.
 * @param slots one per charge
 */
export function takeAll(charges: readonly Charge[], slots: readonly Slot[], now: number): Taken {
  const { before, first } = tryAll(charges, slots, now);
  const allowed = first.every(({ answer }) => answer.allowed);
  if (!allowed) restore(slots, before);
  const answers = first.map(({ answer, held }, i) => {
    if (allowed || (!answer.allowed && held === undefined)) return answer;
    // What stays written of a request that charges nothing: a clock that was moved, a changed rate, a new block.
    const slot = slots[i] as Slot;
    const read = advance(slot.held, (charges[i] as Charge).rule, 0, now);
    if (read.held !== undefined) slot.held = read.held;
    if (!answer.allowed && held?.block !== undefined) slot.held = { ...slot.held, block: held.block };
    return uncharged(answer, read.answer);
  });
  return { answers, at: first.map(({ at }) => at) };
}

/** What take would answer, with everything left as it is. */
export function peekAll(charges: readonly Charge[], slots: readonly Slot[], now: number): readonly Answer[] {
  const { before, first } = tryAll(charges, slots, now);
  restore(slots, before);
  const answers = first.map(({ answer, held }, i) => {
    if (!answer.allowed && held === undefined) return answer;
    // As in takeAll, a limit sees what the ones before it would leave written.
    const slot = slots[i] as Slot;
    const read = advance(slot.held, (charges[i] as Charge).rule, 0, now);
    if (read.held !== undefined) slot.held = read.held;
    return uncharged(answer, read.answer);
  });
  restore(slots, before);
  return answers;
}

interface Tried {
  readonly before: readonly Held[];
  readonly first: readonly Advance[];
}

/** Charges one limit after the other, each seeing what those before it charged. */
function tryAll(charges: readonly Charge[], slots: readonly Slot[], now: number): Tried {
  const before: Held[] = [];
  const first: Advance[] = [];
  for (let i = 0; i < charges.length; i++) {
    const { rule, cost } = charges[i] as Charge;
    const slot = slots[i] as Slot;
    const step = advance(slot.held, rule, cost, now);
    before.push(slot.held);
    first.push(step);
    if (step.held !== undefined) slot.held = step.held;
  }
  return { before, first };
}

function restore(slots: readonly Slot[], before: readonly Held[]): void {
  for (let i = slots.length - 1; i >= 0; i--) (slots[i] as Slot).held = before[i] as Held;
}

/** A limit that would have passed reports its uncharged quota. */
function uncharged(answer: Answer, { remaining, nextMs, resetMs }: Answer): Answer {
  return answer.allowed ? { ...answer, remaining, nextMs, resetMs } : answer;
}
