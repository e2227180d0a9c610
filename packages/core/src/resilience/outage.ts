import { StoreError, type StoreErrorCode } from '../errors.ts';
import type { WarningListener } from '../warnings.ts';
import type { StoreObserver } from './store-observer.ts';

/** Knows whether a store is out, and tells of each change once. */
export interface Outage {
  /** The store could not decide a request. */
  failed(error: unknown): void;
  /** The store could not change a counter; it may decide all the same. */
  refused(error: unknown): void;
  /** It decided one. */
  decided(): void;
  /** Whoever closes it has no use for news of it. */
  close(): void;
}

/** How long the store has to answer without a failure before it counts as recovered: a flapping one is one outage. */
const RECOVERY_MS = 2000;
/** So many failures of single requests, and nothing in between, are no matter of single requests. */
const FAILED_IN_A_ROW = 20;
const RECOVERED = `It decided for ${RECOVERY_MS / 1000} s without a failure.`;

/**
 * @param store its name
 * @param report told when the store stops deciding, and when it decides again
 * @param warn told of what is the matter with single requests
 */
export function createOutage(
  store: string,
  observer: Pick<StoreObserver, 'changed'>,
  report: WarningListener,
  warn: WarningListener,
): Outage {
  let isMisconfigured = false;
  let isOut = false;
  let isClosed = false;
  /** Since when it has decided without a failure, while it counts as out. */
  let decidesSince: number | undefined;
  let failedInARow = 0;

  return {
    failed(error) {
      const { code, why } = read(error);
      // One key, or one answer: the others are decided as ever.
      if (code === 'failed' && ++failedInARow < FAILED_IN_A_ROW) {
        return warn('store-failed', `The ${store} store could not decide a request: ${why}`);
      }
      decidesSince = undefined;
      if (isClosed) return;
      if (code === 'misconfigured') misconfigured(why);
      if (isOut) return;
      isOut = true;
      observer.changed({ state: 'degraded', store, reason: why });
      report('store-degraded', `The ${store} store cannot decide: ${why} Policies answer by their onStoreFailure.`);
    },
    refused(error) {
      const { code, why } = read(error);
      if (code === 'misconfigured') misconfigured(why);
    },
    decided() {
      failedInARow = 0;
      if (!isOut) return;
      const now = performance.now();
      decidesSince ??= now;
      if (now - decidesSince < RECOVERY_MS || isClosed) return;
      [isOut, isMisconfigured, decidesSince] = [false, false, undefined];
      observer.changed({ state: 'recovered', store, reason: RECOVERED });
      report('store-recovered', `The ${store} store decides again.`);
    },
    close() {
      isClosed = true;
    },
  };

  function misconfigured(why: string): void {
    if (isMisconfigured) return;
    isMisconfigured = true;
    report('store-misconfigured', `The ${store} store refuses: ${why}`);
  }
}

function read(error: unknown): { readonly code: StoreErrorCode | undefined; readonly why: string } {
  const code = error instanceof StoreError ? error.code : undefined;
  return { code, why: error instanceof Error ? error.message : String(error) };
}
