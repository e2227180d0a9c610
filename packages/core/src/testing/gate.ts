/** Holds the handlers of an application up until a case has seen what it wants to see. */
export interface Gate {
  /** For handlers: waits until the gate opens. */
  pass(): Promise<void>;
  /** Resolves when so many handlers wait, or have waited. */
  reached(count: number): Promise<void>;
  open(): void;
}

export function createGate(): Gate {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  let count = 0;
  const watchers: { readonly count: number; readonly resolve: () => void }[] = [];
  return {
    pass() {
      count++;
      for (const watcher of watchers) if (count >= watcher.count) watcher.resolve();
      return opened;
    },
    reached: (wanted) =>
      new Promise((resolve) => {
        if (count >= wanted) resolve();
        else watchers.push({ count: wanted, resolve });
      }),
    open,
  };
}
