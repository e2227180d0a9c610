import type { Answer, Step } from '../algorithms/algorithm.ts';
import { ALGORITHMS } from '../algorithms/algorithms.ts';
import type { Charge } from '../policy/charge.ts';

/** A counter in memory. Without a state it counts nothing yet. */
export interface Counter {
  state: object | undefined;
  /** When the state cannot matter any more, in ms of the store's clock. */
  expiresAt: number;
}

/**
 * Decides the limits of one request: all are charged, or none is. Twin of the request loop in take.lua.
 * @param counters one per charge; the same object where two charges share a counter
 */
export function takeAll(charges: readonly Charge[], counters: readonly Counter[], now: number): readonly Answer[] {
  const steps: Step<object>[] = [];
  const before: Counter[] = [];
  let allowed = true;
  for (let i = 0; i < charges.length; i++) {
    const counter = counters[i] as Counter;
    before.push({ ...counter });
    const step = advance(counter, charges[i] as Charge, (charges[i] as Charge).cost, now);
    if (!step.answer.allowed) allowed = false;
    steps.push(step);
  }
  return allowed ? steps.map(({ answer }) => answer) : chargeNothing(charges, counters, now, before, steps);
}

/** The limits that would have passed report their uncharged quota: a step at cost 0. */
function chargeNothing(
  charges: readonly Charge[],
  counters: readonly Counter[],
  now: number,
  before: readonly Counter[],
  steps: readonly Step<object>[],
): readonly Answer[] {
  for (let i = charges.length - 1; i >= 0; i--) Object.assign(counters[i] as Counter, before[i]);
  return steps.map(({ answer, state }, i) => {
    // A denial writes only to re-anchor a state whose clock was moved, and that must stay written.
    if (!answer.allowed && state === undefined) return answer;
    const { remaining, nextMs, resetMs } = advance(counters[i] as Counter, charges[i] as Charge, 0, now).answer;
    return answer.allowed ? { ...answer, remaining, nextMs, resetMs } : answer;
  });
}

function advance(counter: Counter, { rule }: Charge, cost: number, now: number): Step<object> {
  const step = ALGORITHMS[rule.algorithm].step(counter.state, rule, cost, now);
  if (step.state !== undefined) {
    counter.state = step.state;
    counter.expiresAt = now + step.expiresMs;
  }
  return step;
}
