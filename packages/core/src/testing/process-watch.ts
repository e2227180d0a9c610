import { setImmediate } from 'node:timers/promises';

/** Collects what a request must never cause in the process that answers it, until it is stopped. */
export interface ProcessWatch {
  /** Rejections that nobody handles, errors that nobody catches, and emitters that gather listeners. */
  stop(): Promise<readonly unknown[]>;
}

export function watchProcess(): ProcessWatch {
  const seen: unknown[] = [];
  const note = (error: unknown): void => void seen.push(error);
  const noteLeak = (warning: Error): void => void (warning.name === 'MaxListenersExceededWarning' && note(warning));
  process.on('unhandledRejection', note).on('uncaughtExceptionMonitor', note).on('warning', noteLeak);
  return {
    async stop() {
      // A rejection is reported when the microtasks of its turn are done.
      await setImmediate();
      process.off('unhandledRejection', note).off('uncaughtExceptionMonitor', note).off('warning', noteLeak);
      return seen;
    },
  };
}
