import { StoreError } from '../errors.ts';
import type { WarningListener } from '../warnings.ts';
import type { StoreObserver } from './store-observer.ts';

/** Knows whether a store is out, and tells of each change once. */
export interface Outage {
  /** The store could not decide a request. */
  failed(error: unknown): void;
  /** It decided one. */
  decided(): void;
}

/** How long the store has to answer without a failure before it counts as recovered: a flapping one is one outage. */
const RECOVERY_MS = 2000;
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
  /** When it last failed; undefined while it decides. */
  let failedAt: number | undefined;

  return {
    failed(error) {
      const code = error instanceof StoreError ? error.code : undefined;
      const why = error instanceof Error ? error.message : String(error);
      // One key, or one answer: the others are decided as ever.
      if (code === 'failed') return warn('store-failed', `The ${store} store could not decide a request: ${why}`);
      const isFirst = failedAt === undefined;
      failedAt = performance.now();
      if (code === 'misconfigured' && !isMisconfigured) {
        isMisconfigured = true;
        report('store-misconfigured', `The ${store} store refuses: ${why}`);
      }
      if (!isFirst) return;
      observer.changed({ state: 'degraded', store, reason: why });
      report('store-degraded', `The ${store} store cannot decide: ${why} Policies answer by their onStoreFailure.`);
    },
    decided() {
      if (failedAt === undefined || performance.now() - failedAt < RECOVERY_MS) return;
      failedAt = undefined;
      isMisconfigured = false;
      observer.changed({ state: 'recovered', store, reason: RECOVERED });
      report('store-recovered', `The ${store} store decides again.`);
    },
  };
}
