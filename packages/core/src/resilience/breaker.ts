import { StoreError } from '../errors.ts';

/**
 * Stops asking a store that does not decide, so that an outage costs its first requests the deadline and all others
 * nothing. Written by hand: the breakers on npm let requests wait for a probe, and answer only with a promise.
 */
export interface Breaker {
  readonly state: BreakerState;
  /** A number to hand back with how the call went; undefined when the store is not to be asked. */
  enter(): number | undefined;
  succeeded(call: number): void;
  failed(call: number, error: unknown): void;
}

/** `closed`: the store is asked; `open`: it is not; `half-open`: one call finds out whether it decides again. */
export type BreakerState = State['kind'];

type State =
  | { readonly kind: 'closed' }
  | { readonly kind: 'open'; readonly until: number }
  | { readonly kind: 'half-open' };

/** Failures in a row that open it. */
const IN_A_ROW = 5;
/** Of the last 32 calls, so many failures open it: a store that fails now and then is not out. */
const OF_THE_LAST = 16;
/** How long it stays open: at first, and at most, after probes that failed or a time closed that was short. */
const FIRST_OPEN_MS = 250;
const MAX_OPEN_MS = 5000;
const STABLE_MS = 10_000;
/** What an operator has to mend is not asked about more often. */
const MISCONFIGURED_MS = 5000;

/** @param moved told of each change of state */
export function createBreaker(
  now: () => number = () => performance.now(),
  moved: (state: BreakerState) => void = () => {},
): Breaker {
  let state: State = { kind: 'closed' };
  let closedAt = -STABLE_MS;
  let openMs = FIRST_OPEN_MS;
  /** Calls of an earlier state tell nothing about this one: what comes late must neither open nor close it. */
  let generation = 1;
  let inARow = 0;
  /** How the last 32 calls went, a bit each. */
  let history = 0;

  return {
    get state() {
      return state.kind;
    },
    enter() {
      if (state.kind === 'closed') return generation;
      if (state.kind === 'half-open' || now() < state.until) return undefined;
      // This one call is the probe.
      move({ kind: 'half-open' });
      return generation;
    },
    succeeded(call) {
      if (call !== generation) return;
      inARow = 0;
      history <<= 1;
      if (state.kind !== 'half-open') return;
      closedAt = now();
      move({ kind: 'closed' });
    },
    failed(call, error) {
      if (call !== generation) return;
      const code = error instanceof StoreError ? error.code : undefined;
      // It is about one command or one key: the store has answered.
      if (code === 'failed') return this.succeeded(call);
      if (code === 'misconfigured') return open(MISCONFIGURED_MS);
      if (state.kind === 'half-open') return open();
      // Who is known to be away is not asked: it costs nothing, and it is there again at once when it is back.
      if (code === 'unavailable') return;
      inARow++;
      history = (history << 1) | 1;
      if (inARow >= IN_A_ROW || ones(history) >= OF_THE_LAST) open();
    },
  };

  function open(atLeastMs = 0): void {
    // One that closes and opens again is still the same trouble: it is asked less and less often.
    const isNew = state.kind === 'closed' && now() - closedAt >= STABLE_MS;
    openMs = isNew ? FIRST_OPEN_MS : Math.min(MAX_OPEN_MS, openMs * 2);
    move({ kind: 'open', until: now() + Math.max(openMs, atLeastMs) });
  }

  function move(next: State): void {
    state = next;
    generation++;
    inARow = 0;
    history = 0;
    moved(next.kind);
  }
}

function ones(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++;
  return count;
}
