import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Rule } from './algorithm.ts';
import { slidingWindow, type SlidingWindowState } from './sliding-window.ts';

const START = 1_700_000_000_000;

function ruleOf(limit: number, windowMs: number): Rule {
  return { algorithm: 'sliding-window', limit, windowMs, burst: limit, maxDelayMs: undefined, blockMs: 0 };
}

/** A counter of its own, charged through `take` at any time. */
function counter(rule: Rule) {
  let state: SlidingWindowState | undefined;
  return (now: number, cost = 1) => {
    const step = slidingWindow.step(state, rule, cost, now);
    state = step.state ?? state;
    return step.answer;
  };
}

const rules = fc.record({
  limit: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 1_000_000 })),
  windowMs: fc.oneof(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 100_000 }), fc.constant(2_678_400_000)),
});
/** States above the limit too: the limit may have been lowered since. */
const states = fc.record({
  prev: fc.integer({ min: 0, max: 2_000_000 }),
  cur: fc.integer({ min: 0, max: 2_000_000 }),
  windowsAgo: fc.integer({ min: -3, max: 3 }),
  phase: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  costShare: fc.double({ min: 0, max: 1, noNaN: true }),
});

describe('sliding window', () => {
  it('passes after exactly retryAfterMs and not 1 ms earlier, from any state', () => {
    fc.assert(
      fc.property(rules, states, ({ limit, windowMs }, { prev, cur, windowsAgo, phase, costShare }) => {
        const rule = ruleOf(limit, windowMs);
        const w = Math.floor(START / windowMs);
        const now = w * windowMs + Math.floor(phase * windowMs);
        const cost = Math.max(1, Math.round(costShare * limit));
        const small = 2 * limit + 1;
        const before = { w: w - windowsAgo, prev: prev % small, cur: cur % small };
        const denied = slidingWindow.step(before, rule, cost, now);
        fc.pre(!denied.answer.allowed);
        const at = (ms: number) => slidingWindow.step(denied.state ?? before, rule, cost, now + ms).answer.allowed;
        expect(at(denied.answer.retryAfterMs)).toBe(true);
        expect(at(denied.answer.retryAfterMs - 1)).toBe(false);
      }),
      { numRuns: 3000 },
    );
  });

  it('remaining is the largest cost that passes, nextMs when one more does, resetMs when all is free', () => {
    fc.assert(
      fc.property(rules, states, ({ limit, windowMs }, { prev, cur, windowsAgo, phase }) => {
        const rule = ruleOf(limit, windowMs);
        const w = Math.floor(START / windowMs);
        const now = w * windowMs + Math.floor(phase * windowMs);
        const small = 2 * limit + 1;
        const before = { w: w - windowsAgo, prev: prev % small, cur: cur % small };
        // Writes down a re-anchored state, as a store does.
        const read = slidingWindow.step(before, rule, 0, now);
        const state = read.state ?? before;
        const { remaining, nextMs, resetMs } = read.answer;
        const passes = (cost: number, ms: number) => slidingWindow.step(state, rule, cost, now + ms).answer.allowed;
        if (remaining > 0) expect(passes(remaining, 0)).toBe(true);
        if (remaining < limit) {
          expect(passes(remaining + 1, 0)).toBe(false);
          expect(passes(remaining + 1, nextMs)).toBe(true);
          expect(passes(remaining + 1, nextMs - 1)).toBe(false);
          expect(passes(limit, resetMs)).toBe(true);
          expect(passes(limit, resetMs - 1)).toBe(false);
        } else {
          expect({ nextMs, resetMs }).toEqual({ nextMs: 0, resetMs: 0 });
        }
      }),
      { numRuns: 3000 },
    );
  });

  it('gives the same answer whether a state that expired is still there or not', () => {
    fc.assert(
      fc.property(rules, states, fc.nat(1_000_000), ({ limit, windowMs }, { prev, cur }, later) => {
        const rule = ruleOf(limit, windowMs);
        const before = { w: Math.floor(START / windowMs), prev: prev % limit, cur: 0 };
        const charged = slidingWindow.step(before, rule, 1, START);
        fc.pre(charged.state !== undefined);
        const state = charged.state ?? before;
        const dead = START + slidingWindow.lifeMs(state, rule, START) + later;
        expect(slidingWindow.step({ w: charged.state?.w ?? 0, prev: 0, cur }, rule, 1, dead)).toEqual(
          slidingWindow.step(undefined, rule, 1, dead),
        );
      }),
    );
  });

  it('no jump of the clock keeps anyone out for longer than two windows and a unit', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 5000 }),
        fc.integer({ min: -40_000_000, max: 40_000_000 }),
        (limit, windowMs, jump) => {
          const take = counter(ruleOf(limit, windowMs));
          take(START, limit);
          const now = START + jump;
          const first = take(now);
          if (first.allowed) return;
          // W of the jump itself on top of what a full window costs without any jump.
          expect(first.retryAfterMs).toBeLessThanOrEqual(windowMs + windowMs + Math.ceil(windowMs / limit));
          expect(take(now + first.retryAfterMs).allowed).toBe(true);
        },
      ),
      { numRuns: 2000 },
    );
  });
});
