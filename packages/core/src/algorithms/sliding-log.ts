import type { Algorithm, Rule, Step } from './algorithm.ts';

/** When something was charged, oldest first, and the sum of all units from the first entry to each of them. */
export interface SlidingLogState {
  readonly times: readonly number[];
  readonly sums: readonly number[];
}

/** With more, a state would not be worth reading: 10 000 entries are 90 kB in Redis. */
export const MAX_LOG_LIMIT = 10_000;
/** Sums are kept in three bytes, so live units stay below half of that. */
const MAX_UNITS = 2 ** 23 - 1;

const EMPTY: SlidingLogState = { times: [], sums: [] };

/**
 * Sliding log: remembers each charge for `windowMs`.
 *
 * For: small limits that must be exact, such as logins, codes, payments. Costs: 9 bytes for each ms in which something
 * was charged, and reading that many; limit up to 10 000. One read and one write per decision, whatever the limit.
 * Bound: at most L units in any T ≤ W, exactly.
 */
export const slidingLog: Algorithm<SlidingLogState> = {
  name: 'sliding-log',
  code: 'sl',

  step(state = EMPTY, rule, cost, now): Step<SlidingLogState> {
    const { limit: L } = rule;
    const { log, at, ahead, moved } = roll(state, rule, now);
    const allowed = total(log) + cost <= L;
    const after = allowed ? append(log, at, cost) : log;
    const remaining = Math.max(0, L - total(after));
    const nextMs = remaining < L ? ahead + waitMs(after, rule, at, remaining + 1) : 0;
    const last = after.times.at(-1);
    const resetMs = last === undefined ? 0 : ahead + last + rule.windowMs - at;
    const reason = allowed ? undefined : cost > L ? 'never' : 'exhausted';
    const retryAfterMs = allowed ? 0 : cost > L ? Infinity : ahead + waitMs(log, rule, at, cost);
    return {
      answer: { allowed, reason, remaining, nextMs, resetMs, retryAfterMs, delayMs: 0 },
      state: (allowed && cost > 0) || moved ? after : undefined,
      at,
    };
  },

  refund(log, rule, units, at, now): SlidingLogState | undefined {
    const i = log.times.indexOf(at);
    if (i === -1 || now - at >= rule.windowMs) return undefined;
    const before = log.sums[i - 1] ?? 0;
    const given = Math.min(units, (log.sums[i] as number) - before);
    const sums = log.sums.map((sum, j) => (j < i ? sum : sum - given));
    const gone = sums[i] === before;
    return gone ? { times: log.times.toSpliced(i, 1), sums: sums.toSpliced(i, 1) } : { times: log.times, sums };
  },

  debit(state = EMPTY, rule, units, now): SlidingLogState {
    const { log, at } = roll(state, rule, now);
    return append(log, at, Math.min(units, MAX_UNITS - total(log)));
  },

  /** As long as its newest entry counts. */
  lifeMs: ({ times }, { windowMs: W }, now) => (times.at(-1) ?? now - W) + W - now,
};

/** What still counts at `now`. A newest time far ahead means that the clock was moved: all times move with it. */
function roll(
  state: SlidingLogState,
  { windowMs: W }: Rule,
  now: number,
): { log: SlidingLogState; at: number; ahead: number; moved: boolean } {
  const last = state.times.at(-1) ?? now;
  const moved = last - now > W;
  const shift = moved ? now - last : 0;
  const at = moved ? now : Math.max(now, last);
  let from = 0;
  while (from < state.times.length && (state.times[from] as number) + shift <= at - W) from++;
  const before = state.sums[from - 1] ?? 0;
  const times = state.times.slice(from);
  const sums = state.sums.slice(from);
  return {
    log: {
      times: shift === 0 ? times : times.map((time) => time + shift),
      sums: before === 0 ? sums : sums.map((sum) => sum - before),
    },
    at,
    ahead: at - now,
    moved,
  };
}

function total(log: SlidingLogState): number {
  return log.sums.at(-1) ?? 0;
}

/** Charges of one ms are one entry. */
function append(log: SlidingLogState, at: number, units: number): SlidingLogState {
  if (units === 0) return log;
  const sum = total(log) + units;
  if (log.times.at(-1) === at) return { times: log.times, sums: [...log.sums.slice(0, -1), sum] };
  return { times: [...log.times, at], sums: [...log.sums, sum] };
}

/** How long until enough of the oldest entries have gone for `cost` to fit, which must be at most the limit. */
function waitMs(log: SlidingLogState, { limit: L, windowMs: W }: Rule, at: number, cost: number): number {
  const need = total(log) + cost - L;
  if (need <= 0) return 0;
  let low = 0;
  let high = log.sums.length - 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((log.sums[middle] as number) >= need) high = middle;
    else low = middle + 1;
  }
  return (log.times[low] as number) + W - at;
}
