import { describe, expect, it } from 'vitest';
import type { AlgorithmName, Rule } from './algorithm.ts';
import { ALGORITHMS } from './algorithms.ts';

const W = 1000;
/** The start of a window. */
const EDGE = 1_700_000_000 * W;

/** The most units in any half-open interval of T ms, as the documentation of each algorithm states it. */
const BOUNDS: Readonly<Record<AlgorithmName, (rule: Rule, T: number) => number>> = {
  'sliding-window': ({ limit }, T) => Math.floor(limit * (1 + T / W)),
  'fixed-window': ({ limit }) => 2 * limit,
  'token-bucket': ({ limit, burst }, T) => Math.floor((burst * W + limit * T) / W),
  'leaky-bucket': ({ limit, burst }, T) => Math.floor((burst * W + limit * T) / W),
  'sliding-log': ({ limit }) => limit,
};

function ruleOf(algorithm: AlgorithmName, limit: number): Rule {
  const isBucket = algorithm === 'token-bucket' || algorithm === 'leaky-bucket';
  return {
    algorithm,
    limit,
    windowMs: W,
    burst: isBucket ? Math.ceil(limit / 2) : limit,
    maxDelayMs: undefined,
    blockMs: 0,
  };
}

/** Takes all it can get from `burstAt` on, every ms, through two flips of the window. */
function greedy(rule: Rule, burstAt: number): number[] {
  const algorithm = ALGORITHMS[rule.algorithm];
  const admitted: number[] = [];
  let state: object | undefined;
  for (let ms = burstAt; ms < 3 * W; ms++) {
    for (;;) {
      const step = algorithm.step(state, rule, 1, EDGE + ms);
      if (!step.answer.allowed) break;
      state = step.state;
      admitted.push(ms);
    }
  }
  return admitted;
}

/** By how many units the bound is passed in the interval that passes it most; negative while there is room. */
function excess(rule: Rule, admitted: readonly number[]): number {
  let most = -Infinity;
  for (let i = 0; i < admitted.length; i++) {
    for (let j = i; j < admitted.length; j++) {
      // The shortest half-open interval that holds both is 1 ms longer than their distance.
      const T = (admitted[j] as number) - (admitted[i] as number) + 1;
      if (T > W) break;
      most = Math.max(most, j - i + 1 - BOUNDS[rule.algorithm](rule, T));
    }
  }
  return most;
}

describe.each(Object.keys(BOUNDS) as AlgorithmName[])(
  'a greedy adversary around the flip of a window: %s',
  (algorithm) => {
    it.each([1, 3, 10, 100])('admits no more than its bound of limit %i', (limit) => {
      const rule = ruleOf(algorithm, limit);
      const rows = [0, 1, 500, 950, 999].map((burstAt) => excess(rule, greedy(rule, burstAt)));
      expect(Math.max(...rows)).toBeLessThanOrEqual(0);
    });

    it('meets its bound: it is not stricter than it says', () => {
      const rule = ruleOf(algorithm, 100);
      const rows = [0, 1, 500, 950, 999].map((burstAt) => excess(rule, greedy(rule, burstAt)));
      expect(Math.max(...rows)).toBe(0);
    });
  },
);

it('sliding window: L = 100 spent at the end of a window leaves at most 102 in the second around its edge', () => {
  const rule: Rule = { ...ruleOf('sliding-window', 100), windowMs: 60_000 };
  const edge = Math.ceil(EDGE / 60_000) * 60_000;
  let state: object | undefined;
  let admitted = 0;
  for (const ms of [...Array.from({ length: 100 }, () => -50), ...Array.from({ length: 95 }, (_, i) => i * 10)]) {
    const step = ALGORITHMS['sliding-window'].step(state, rule, 1, edge + ms);
    state = step.state ?? state;
    admitted += Number(step.answer.allowed);
  }
  expect(admitted).toBeGreaterThanOrEqual(100);
  expect(admitted).toBeLessThanOrEqual(102);
});

it('leaky bucket, shaping: starts requests at least W/L apart, in whole ms', () => {
  for (const limit of [1, 3, 7, 10, 100]) {
    const rule: Rule = { ...ruleOf('leaky-bucket', limit), burst: 1_000_000, maxDelayMs: 5000 };
    let state: object | undefined;
    const starts: number[] = [];
    for (let ms = 0; ms < 3 * W; ms += 7) {
      const step = ALGORITHMS['leaky-bucket'].step(state, rule, 1, EDGE + ms);
      state = step.state ?? state;
      if (step.answer.allowed) starts.push(ms + step.answer.delayMs);
    }
    // Each start is its exact time rounded up, so the n-th after another is n·W/L later, less than 1 ms of rounding.
    const early = starts.flatMap((from, i) =>
      starts.slice(i + 1, i + 40).map((to, n) => ((n + 1) * W) / limit - (to - from)),
    );
    expect(Math.max(...early)).toBeLessThan(1);
  }
});
