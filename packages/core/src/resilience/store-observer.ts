import type { StoreErrorCode } from '../errors.ts';
import type { BreakerState } from './breaker.ts';

/** How a call of the store ended; `failed` is also what is no StoreError. */
export type CallOutcome = 'ok' | StoreErrorCode;

/** A change of state: the store stopped deciding, or it decides again. */
export interface DegradedEvent {
  readonly state: 'degraded' | 'recovered';
  /** The name of the store. */
  readonly store: string;
  /** What the store failed with, or how it recovered, in words. */
  readonly reason: string;
}

/** Measures how a store fares. Throws nothing. */
export interface StoreMeter {
  /** The time in ms; undefined while nobody measures. */
  readonly now: () => number | undefined;
  /** A call that began at `sinceMs` has its answer, or has outlasted its deadline. */
  readonly called: (sinceMs: number, outcome: CallOutcome) => void;
  readonly moved: (state: BreakerState) => void;
}

/** Is told how a store fares. Throws nothing. */
export interface StoreObserver extends StoreMeter {
  readonly changed: (event: DegradedEvent) => void;
}
