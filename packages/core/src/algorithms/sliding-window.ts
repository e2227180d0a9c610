import type { Algorithm, Rule, Step } from './algorithm.ts';

/** The number of the current window, and the units charged in the window before it and in it. */
export interface SlidingWindowState {
  readonly w: number;
  readonly prev: number;
  readonly cur: number;
}

/**
 * Sliding window of two counters: what was charged in the previous window weighs as much as that window still covers
 * of the last `windowMs`.
 *
 * For: general API traffic; the default. Costs: one small integer per key, constant time.
 * Bound: at most floor(L·(1 + T/W)) units in any T ≤ W, so 101 of 100 in a second, but an adversary who aims at the
 * window's edge can get near 2·L within one full window.
 */
export const slidingWindow: Algorithm<SlidingWindowState> = {
  name: 'sliding-window',
  code: 'sw',

  step(state, rule, cost, now): Step<SlidingWindowState> {
    const { limit: L, windowMs: W } = rule;
    let w = Math.floor(now / W);
    let e = now - w * W;
    let prev = 0;
    let cur = 0;
    let ahead = 0;
    let moved = false;
    if (state !== undefined) {
      const d = state.w - w;
      if (d === 0) {
        ({ prev, cur } = state);
      } else if (d === -1) {
        prev = state.cur;
      } else if (d === 1) {
        // The stored time is ahead by at most one window: it is used as now, and the client waits the difference.
        ({ w, prev, cur } = state);
        ahead = w * W - now;
        e = 0;
      } else if (d > 1) {
        // Further ahead, the clock was moved back. The amounts go on from now, or nobody could pass until it catches
        // up; a denial writes this too, or each later request would start the wait anew.
        ({ prev, cur } = state);
        moved = true;
      }
    }

    const retryMs = waitMs(rule, prev, cur, e, cost);
    const allowed = retryMs === 0;
    if (allowed) cur += cost;
    const remaining = Math.max(0, L - cur - Math.ceil((prev * (W - e)) / W));
    const nextMs = remaining < L ? ahead + waitMs(rule, prev, cur, e, remaining + 1) : 0;
    let resetMs = 0;
    if (cur > 0) resetMs = ahead + W - e + W;
    else if (prev > 0) resetMs = ahead + W - e;

    const reason = allowed ? undefined : cost > L ? 'never' : 'exhausted';
    return {
      answer: { allowed, reason, remaining, nextMs, resetMs, retryAfterMs: allowed ? 0 : ahead + retryMs },
      state: (allowed && cost > 0) || moved ? { w, prev, cur } : undefined,
      expiresMs: (w + 2) * W - now,
    };
  },
};

/** How long until `cost` passes if nothing more comes: 0 when it passes now, Infinity when it never can. */
function waitMs(rule: Rule, prev: number, cur: number, e: number, cost: number): number {
  const { limit: L, windowMs: W } = rule;
  if (cost > L) return Infinity;
  if (prev * (W - e) + (cur + cost) * W <= L * W) return 0;
  if (cur + cost <= L) return W - Math.floor(((L - cur - cost) * W) / prev) - e;
  return W - e + W - Math.floor(((L - cost) * W) / cur);
}
