/** The numbers that a step needs of a limit. */
export interface Rule {
  readonly algorithm: AlgorithmName;
  /** Units per window, 0 or more. 0 denies every request that costs anything. */
  readonly limit: number;
  /** 1 ms to 31 days. */
  readonly windowMs: number;
  /** The most units at once, for the buckets: of a token bucket its size, of a leaky bucket its queue. */
  readonly burst: number;
  /** The longest that a leaky bucket lets an admitted request wait for its turn; undefined where it does not shape. */
  readonly maxDelayMs: number | undefined;
  /** How long exceeding the limit bars its partition; 0 where it does not. */
  readonly blockMs: number;
}

export type AlgorithmName = 'sliding-window' | 'token-bucket' | 'leaky-bucket' | 'fixed-window' | 'sliding-log';

/** `exhausted`: not now. `blocked`: barred for a time. `never`: the cost is more than the limit can ever hold. */
export type DenialReason = 'exhausted' | 'blocked' | 'never';

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
  /** How long an admitted request has to wait for its turn; 0 but in a leaky bucket that shapes. */
  readonly delayMs: number;
}

/** An answer, and what has to be written for it. */
export interface Step<State> {
  readonly answer: Answer;
  /** The state to store; undefined when the stored one stands, as after most denials and at cost 0. */
  readonly state: State | undefined;
  /** The time that the step reckoned with, which a refund gives back: now, or the stored time where that is ahead. */
  readonly at: number;
}

/**
 * Pure steps, written twice: this twin and the `.lua` file beside it, which keep the same names and the same order of
 * lines. Both work on whole numbers below 2^53 only, so that they agree to the bit.
 */
export interface Algorithm<State = object> {
  readonly name: AlgorithmName;
  /** Stands for the name in keys and in the rules sent to Redis. */
  readonly code: string;
  // Methods rather than function properties: their parameters are bivariant, so that one table can hold all algorithms.
  step(state: State | undefined, rule: Rule, cost: number, now: number): Step<State>;
  /** Gives back units that were charged at `at`; undefined when none of them counts any more. */
  refund(state: State, rule: Rule, units: number, at: number, now: number): State | undefined;
  /** Charges units whether they fit or not, as debt; saturating, so that all products stay exact. */
  debit(state: State | undefined, rule: Rule, units: number, now: number): State;
  /** How long the state can still matter: garbage collection, never part of an answer. */
  lifeMs(state: State, rule: Rule, now: number): number;
}
