/** A clock that only moves when told to, in whole milliseconds. */
export interface TestClock {
  (): number;
  advance(ms: number): void;
  set(ms: number): void;
}

/** @param startMs default 1 700 000 000 000, a plausible wall clock that is aligned to no usual window */
export function createClock(startMs = 1_700_000_000_123): TestClock {
  let nowMs = startMs;
  return Object.assign(() => nowMs, {
    advance: (ms: number) => void (nowMs += ms),
    set: (ms: number) => void (nowMs = ms),
  });
}
