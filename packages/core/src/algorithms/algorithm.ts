/** The numbers that a step needs of a limit. */
export interface Rule {
  readonly algorithm: AlgorithmName;
  /** Units per window, 0 or more. 0 denies every request that costs anything. */
  readonly limit: number;
  /** 1 ms to 31 days. */
  readonly windowMs: number;
}

export type AlgorithmName = 'sliding-window';

/** `exhausted`: not now. `never`: the cost is more than the limit can ever hold. */
export type DenialReason = 'exhausted' | 'never';

/** What one limit says to one request. Times are whole milliseconds from now. */
export interface Answer {
  readonly allowed: boolean;
  /** Undefined when allowed. */
  readonly reason: DenialReason | undefined;
  /** The largest cost that would pass now, after this charge. */
  readonly remaining: number;
  /** When `remaining + 1` would pass; 0 when nothing is used. */
  readonly nextMs: number;
  /** When the whole limit is free again if nothing more comes. */
  readonly resetMs: number;
  /** When the same request passes; 0 when it just did, Infinity when it never can. */
  readonly retryAfterMs: number;
}

/** An answer, and what has to be written for it. */
export interface Step<State> {
  readonly answer: Answer;
  /** The state to store; undefined when the stored one stands, as after most denials and at cost 0. */
  readonly state: State | undefined;
  /** How long the stored state can still matter, from now: garbage collection, never part of an answer. */
  readonly expiresMs: number;
}

/**
 * A pure step, written twice: this twin and the `.lua` file beside it, which keep the same names and the same order
 * of lines. Both work on whole numbers below 2^53 only, so that they agree to the bit.
 */
export interface Algorithm<State = object> {
  readonly name: AlgorithmName;
  /** Stands for the name in keys and in the rules sent to Redis. */
  readonly code: string;
  // A method rather than a function property: its parameters are bivariant, so that one table can hold all algorithms.
  step(state: State | undefined, rule: Rule, cost: number, now: number): Step<State>;
}
