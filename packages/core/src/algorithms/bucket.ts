import type { Algorithm, Rule, Step } from './algorithm.ts';

/** What is in a bucket, in units of 1/windowMs, at a time, and how much of it drains per ms since. */
export interface BucketState {
  readonly used: number;
  readonly t: number;
  readonly rate: number;
}

/** The most debt that a bucket can hold, so that the times it takes to drain stay below 2^53 as well. */
const MAX_USED = 2 ** 52;

/**
 * The meter that token bucket and leaky bucket share. A charge of c adds c·W, a limit of L drains L per ms: no floating
 * point, no drift. A state drains at the rate that it was written with, so that it is dead when its key is.
 */
export const bucket: Pick<Algorithm<BucketState>, 'step' | 'refund' | 'debit' | 'lifeMs'> = {
  step(state, rule, cost, now): Step<BucketState> {
    const { limit: L, windowMs: W, burst, maxDelayMs } = rule;
    const { used, at, ahead, rate, moved } = drain(state, rule, now);
    const never = cost > burst || (L === 0 && cost > 0);
    const retryMs = never ? Infinity : waitMs(rule, used, rate, cost, ahead);
    const allowed = retryMs === 0;
    const after = allowed ? used + cost * W : used;
    const remaining =
      L === 0 || delayOf(rule, after, ahead) > (maxDelayMs ?? Infinity)
        ? 0
        : Math.max(0, Math.floor((burst * W - after) / W));
    const nextMs = L > 0 && remaining < burst ? waitMs(rule, after, rate, remaining + 1, ahead) : 0;
    const resetMs = after > 0 ? ahead + Math.ceil(after / rate) : 0;
    const reason = allowed ? undefined : never ? 'never' : 'exhausted';
    const retryAfterMs = allowed ? 0 : retryMs;
    const delayMs = allowed ? delayOf(rule, used, ahead) : 0;
    return {
      answer: { allowed, reason, remaining, nextMs, resetMs, retryAfterMs, delayMs },
      state: (allowed && cost > 0) || moved ? { used: after, t: at, rate } : undefined,
      at,
    };
  },

  refund(state, rule, units, at, now): BucketState | undefined {
    const { used, at: later } = drain(state, rule, now);
    // What of the charge has drained meanwhile is gone: giving it back would let slow successes bank attempts.
    const left = Math.min(used, units * rule.windowMs - Math.max(0, later - at) * state.rate);
    return left > 0 ? { used: used - left, t: later, rate: state.rate } : undefined;
  },

  debit(state, rule, units, now): BucketState {
    const { used, at, rate } = drain(state, rule, now);
    return { used: Math.max(used, Math.min(used + units * rule.windowMs, MAX_USED)), t: at, rate };
  },

  /** Until it is drained, at the rate that it was written with. */
  lifeMs: ({ used, t, rate }, _, now) => t - now + Math.ceil(used / rate),
};

/** The state as it is at `now`, drained, and the rate that it goes on with. */
function drain(
  state: BucketState | undefined,
  { limit: L, windowMs: W }: Rule,
  now: number,
): { used: number; at: number; ahead: number; rate: number; moved: boolean } {
  if (state === undefined) return { used: 0, at: now, ahead: 0, rate: Math.max(1, L), moved: false };
  // With a limit of 0 nothing drains by the limit; what is there goes on as it was.
  const rate = L === 0 ? state.rate : L;
  const d = state.t - now;
  if (d > W) return { used: state.used, at: now, ahead: 0, rate, moved: true };
  const used = d > 0 ? state.used : Math.max(0, state.used - (now - state.t) * state.rate);
  // A change of the limit works at once, so it is written with the next request, whatever becomes of that.
  const moved = used > 0 && rate !== state.rate;
  return { used, at: Math.max(now, state.t), ahead: Math.max(0, d), rate, moved };
}

/** How long a request would wait for its turn behind what is used. */
function delayOf({ limit: L, maxDelayMs }: Rule, used: number, ahead: number): number {
  return maxDelayMs === undefined || L === 0 || used === 0 ? 0 : ahead + Math.ceil(used / L);
}

/** How long until `cost` passes if nothing more comes: until it fits, and until its turn is near enough. */
function waitMs(rule: Rule, used: number, rate: number, cost: number, ahead: number): number {
  const { windowMs: W, burst, maxDelayMs = Infinity } = rule;
  const over = used - (burst - cost) * W;
  const fitsIn = over > 0 ? ahead + Math.ceil(over / rate) : 0;
  return Math.max(fitsIn, delayOf(rule, used, ahead) - maxDelayMs, 0);
}
