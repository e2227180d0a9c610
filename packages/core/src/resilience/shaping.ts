/** Tells when a client goes away; returns how to stop listening. */
export type OnDisconnect = (listener: () => void) => () => void;

/**
 * Waits for a request's turn.
 * @returns whether the turn came; false when the client went away before
 */
export function waitForTurn(delayMs: number, onDisconnect: OnDisconnect | undefined): Promise<boolean> {
  const turn = performance.now() + delayMs;
  return new Promise((resolve) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const finish = (came: boolean): void => {
      clearTimeout(timer);
      stopListening?.();
      resolve(came);
    };
    const stopListening = onDisconnect?.(() => finish(false));
    const check = (): void => {
      const left = turn - performance.now();
      // Timers may fire up to 1 ms early, and the spacing must hold.
      if (left > 0) timer = setTimeout(check, Math.ceil(left));
      else finish(true);
    };
    check();
  });
}
