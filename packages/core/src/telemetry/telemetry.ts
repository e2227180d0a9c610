import type { RequestContext } from '../context.ts';
import type { Decision } from '../decision.ts';
import { isPromise } from '../maybe.ts';
import type { DegradedEvent, StoreObserver } from '../resilience/store-observer.ts';
import { print, type Warning, type WarningCode, type WarningListener } from '../warnings.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { markSpan } from './span.ts';

/** Told what the limiter does. A listener that throws or rejects can never break a decision. */
export interface Listeners {
  /** Every decision, allowed or denied; two of a request that is decided again for the user that authentication named. */
  readonly onDecision?: (decision: Decision, ctx: RequestContext) => unknown;
  /** The store stopped deciding, or decides again; once for each change, which is a warning as well. */
  readonly onDegraded?: (event: DegradedEvent) => unknown;
  /** Something an operator should know: changes of state each time, everything else once. Default: printed. */
  readonly onWarning?: (warning: Warning) => unknown;
}

export interface Telemetry {
  readonly decided: (decision: Decision, ctx: RequestContext) => void;
  /** Says it the first time that this code comes up. */
  readonly warn: WarningListener;
  /** How often each code came up, said or not. */
  readonly warnings: ReadonlyMap<WarningCode, number>;
  /** Says it each time. For changes of state. */
  readonly report: (code: WarningCode, message: string) => void;
  readonly observer: StoreObserver;
}

/**
 * @param store the name of the store
 * @param hash what of a caller is told is hashed with it
 */
export function createTelemetry(listeners: Listeners, store: string, hash: (value: string) => string): Telemetry {
  const { onDecision, onDegraded, onWarning } = listeners;
  const warnings = new Map<WarningCode, number>();
  const metrics = createMetrics(store, warnings);
  const count = (code: WarningCode): number => {
    safely(() => metrics.warned(code));
    const times = (warnings.get(code) ?? 0) + 1;
    warnings.set(code, times);
    return times;
  };
  const say: WarningListener = (code, message, cause) => {
    const warning: Warning = { code, message, ...(cause !== undefined && { cause }) };
    if (onWarning === undefined) print(warning);
    else safely(() => onWarning(warning));
  };
  return {
    warnings,
    decided(decision, ctx) {
      safely(() => metrics.decided(decision));
      safely(() => markSpan(decision, hash));
      if (onDecision !== undefined) safely(() => onDecision(decision, ctx));
    },
    warn(code, message, cause) {
      if (count(code) === 1) say(code, message, cause);
    },
    report(code, message) {
      count(code);
      say(code, message);
    },
    observer: {
      ...toSafe(metrics),
      changed(event) {
        if (onDegraded !== undefined) safely(() => onDegraded(event));
      },
    },
  };
}

function toSafe({ now, called, moved }: Metrics): Omit<StoreObserver, 'changed'> {
  return {
    now: () => safely(now),
    called: (sinceMs, outcome) => safely(() => called(sinceMs, outcome)),
    moved,
  };
}

/** What a listener or an SDK does wrong, now or later, is its own fault and no reason to fail a request. */
function safely<T>(tell: () => T): T | undefined {
  try {
    const told = tell();
    if (isPromise<unknown>(told)) told.then(undefined, () => {});
    return told;
  } catch {
    return undefined;
  }
}
