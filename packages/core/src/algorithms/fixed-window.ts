import type { Algorithm, Step } from './algorithm.ts';

/** The number of the current window, and the units charged in it. */
export interface FixedWindowState {
  readonly w: number;
  readonly n: number;
}

/**
 * Fixed window: one counter per window of the clock.
 *
 * For: quotas that are sold or billed by the hour or day, where "until midnight" is what people expect. Costs: one small
 * integer per key, constant time.
 * Bound: at most L per window of the clock; at most 2·L in any T ≤ W, since a burst at the end of one window and one at
 * the start of the next are both full. All clients are free again at the same moment, and come back together.
 */
export const fixedWindow: Algorithm<FixedWindowState> = {
  name: 'fixed-window',
  code: 'fw',

  step(state, { limit: L, windowMs: W }, cost, now): Step<FixedWindowState> {
    const { w, n, e, ahead, moved } = roll(state, W, now);
    const allowed = n + cost <= L;
    const used = allowed ? n + cost : n;
    const remaining = Math.max(0, L - used);
    const endMs = ahead + W - e;
    const reason = allowed ? undefined : cost > L ? 'never' : 'exhausted';
    const retryAfterMs = allowed ? 0 : cost > L ? Infinity : endMs;
    const resetMs = used > 0 ? endMs : 0;
    return {
      answer: { allowed, reason, remaining, nextMs: remaining < L ? endMs : 0, resetMs, retryAfterMs, delayMs: 0 },
      state: (allowed && cost > 0) || moved ? { w, n: used } : undefined,
      at: now + ahead,
    };
  },

  refund({ w, n }, { windowMs: W }, units, at, now): FixedWindowState | undefined {
    const charged = Math.floor(at / W);
    if (Math.floor(now / W) > charged) return undefined;
    return w === charged && n > 0 ? { w, n: Math.max(0, n - units) } : undefined;
  },

  debit(state, { windowMs: W }, units, now): FixedWindowState {
    const { w, n } = roll(state, W, now);
    return { w, n: Math.min(n + units, Math.floor(Number.MAX_SAFE_INTEGER / W)) };
  },

  /** To the end of its window. */
  lifeMs: ({ w }, { windowMs: W }, now) => (w + 1) * W - now,
};

/** The state as it is at `now`; a stored time ahead of it is used as now, one far ahead means that the clock was moved. */
function roll(
  state: FixedWindowState | undefined,
  W: number,
  now: number,
): FixedWindowState & { e: number; ahead: number; moved: boolean } {
  const w = Math.floor(now / W);
  const e = now - w * W;
  if (state === undefined || state.w < w) return { w, n: 0, e, ahead: 0, moved: false };
  if (state.w === w) return { w, n: state.n, e, ahead: 0, moved: false };
  if (state.w === w + 1) return { w: state.w, n: state.n, e: 0, ahead: state.w * W - now, moved: false };
  return { w, n: state.n, e, ahead: 0, moved: true };
}
