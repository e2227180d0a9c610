/** Tells when a client goes away, at once where it has gone already; returns how to stop listening. */
export type OnDisconnect = (listener: () => void) => () => void;

/**
 * Waits for a request's turn.
 * @returns whether the turn came; false when the client went away before
 */
export function waitForTurn(delayMs: number, onDisconnect: OnDisconnect | undefined): Promise<boolean> {
  const turn = performance.now() + delayMs;
  return new Promise((resolve) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let stopListening: (() => void) | undefined;
    let over = false;
    const finish = (came: boolean): void => {
      over = true;
      clearTimeout(timer);
      stopListening?.();
      resolve(came);
    };
    const check = (): void => {
      const left = turn - performance.now();
      // Timers may fire up to 1 ms early, and the spacing must hold.
      if (left > 0) timer = setTimeout(check, Math.ceil(left));
      else finish(true);
    };
    stopListening = listen(onDisconnect, () => finish(false));
    // It may have gone while who it is, or what it costs, was looked up.
    if (over) stopListening?.();
    else check();
  });
}

/** An adapter that cannot tell must not fail the request. */
function listen(onDisconnect: OnDisconnect | undefined, listener: () => void): (() => void) | undefined {
  try {
    return onDisconnect?.(listener);
  } catch {
    return undefined;
  }
}
