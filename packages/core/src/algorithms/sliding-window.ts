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
 * window's edge can get near 2·L within one full window. Where that matters, take a sliding log.
 * Also the one for reservations that are settled later (LLM tokens): what is reserved stays until it is settled.
 */
export const slidingWindow: Algorithm<SlidingWindowState> = {
  name: 'sliding-window',
  code: 'sw',

  step(state, rule, cost, now): Step<SlidingWindowState> {
    const { limit: L, windowMs: W } = rule;
    const { w, prev, cur, e, ahead, moved } = roll(state, W, now);
    const retryMs = waitMs(rule, prev, cur, e, cost);
    const allowed = retryMs === 0;
    const used = allowed ? cur + cost : cur;
    const remaining = Math.max(0, L - used - Math.ceil((prev * (W - e)) / W));
    const nextMs = remaining < L ? ahead + waitMs(rule, prev, used, e, remaining + 1) : 0;
    let resetMs = 0;
    if (used > 0) resetMs = ahead + W - e + W;
    else if (prev > 0) resetMs = ahead + W - e;
    const reason = allowed ? undefined : cost > L ? 'never' : 'exhausted';
    const retryAfterMs = allowed ? 0 : ahead + retryMs;
    return {
      answer: { allowed, reason, remaining, nextMs, resetMs, retryAfterMs, delayMs: 0 },
      state: (allowed && cost > 0) || moved ? { w, prev, cur: used } : undefined,
      at: now + ahead,
    };
  },

  refund({ w, prev, cur }, { windowMs: W }, units, at, now): SlidingWindowState | undefined {
    const charged = Math.floor(at / W);
    if (Math.floor(now / W) > charged + 1) return undefined;
    if (w === charged && cur > 0) return { w, prev, cur: Math.max(0, cur - units) };
    if (w === charged + 1 && prev > 0) return { w, prev: Math.max(0, prev - units), cur };
    return undefined;
  },

  debit(state, { windowMs: W }, units, now): SlidingWindowState {
    const { w, prev, cur } = roll(state, W, now);
    return { w, prev, cur: Math.min(cur + units, Math.floor(Number.MAX_SAFE_INTEGER / W)) };
  },

  /** To the end of the window after its own. */
  lifeMs: ({ w }, { windowMs: W }, now) => (w + 2) * W - now,
};

/** The state as it is at `now`. */
function roll(
  state: SlidingWindowState | undefined,
  W: number,
  now: number,
): SlidingWindowState & { e: number; ahead: number; moved: boolean } {
  const w = Math.floor(now / W);
  const e = now - w * W;
  const d = state === undefined ? -2 : state.w - w;
  if (state === undefined || d < -1) return { w, prev: 0, cur: 0, e, ahead: 0, moved: false };
  if (d === -1) return { w, prev: state.cur, cur: 0, e, ahead: 0, moved: false };
  if (d === 0) return { w, prev: state.prev, cur: state.cur, e, ahead: 0, moved: false };
  // The stored time is ahead by at most one window: it is used as now, and the client waits the difference.
  if (d === 1) return { w: state.w, prev: state.prev, cur: state.cur, e: 0, ahead: state.w * W - now, moved: false };
  // Further ahead, the clock was moved back. The amounts go on from now, or nobody could pass until it catches up; a
  // denial writes this too, or each later request would start the wait anew.
  return { w, prev: state.prev, cur: state.cur, e, ahead: 0, moved: true };
}

/** How long until `cost` passes if nothing more comes: 0 when it passes now, Infinity when it never can. */
function waitMs(rule: Rule, prev: number, cur: number, e: number, cost: number): number {
  const { limit: L, windowMs: W } = rule;
  if (cost > L) return Infinity;
  if (prev * (W - e) + (cur + cost) * W <= L * W) return 0;
  if (cur + cost <= L) return W - Math.floor(((L - cur - cost) * W) / prev) - e;
  return W - e + W - Math.floor(((L - cost) * W) / cur);
}
