/** How long the event loop kept everybody waiting, so that the limiter is not blamed for it. */
export interface Lag {
  /** How much of a span of time it did not run, ms. */
  within(from: number, to: number): number;
  /** The longest that it did not run at a stretch, ms. */
  longest(): number;
  stop(): void;
}

const TICK_MS = 2;

export function watchLag(): Lag {
  const stalls: { readonly from: number; readonly to: number }[] = [];
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    if (now - last > 2 * TICK_MS) stalls.push({ from: last, to: now });
    last = now;
  }, TICK_MS);
  return {
    within(from, to) {
      // One that goes on just now has not been seen by the timer yet.
      const touching = [...stalls, { from: last, to: performance.now() }].filter(
        (stall) => stall.to > from && stall.from < to,
      );
      return touching.reduce((sum, stall) => sum + Math.max(0, stall.to - stall.from - TICK_MS), 0);
    },
    longest: () => Math.max(0, ...stalls.map((stall) => stall.to - stall.from)),
    stop: () => clearInterval(timer),
  };
}
