import type { RequestContext } from './context.ts';
import { isPromise } from './maybe.ts';
import type { Decision } from './decision.ts';
import { print, type Warning, type WarningCode } from './warnings.ts';

/** Told what the limiter does. A listener that throws or rejects can never break a decision. */
export interface Listeners {
  /** Every decision, allowed or denied. */
  readonly onDecision?: (decision: Decision, ctx: RequestContext) => unknown;
  /** Something an operator should know: changes of state each time, everything else once. Default: printed. */
  readonly onWarning?: (warning: Warning) => unknown;
}

export interface Telemetry {
  readonly decided: (decision: Decision, ctx: RequestContext) => void;
  /** Says it the first time that this code comes up. */
  readonly warn: (code: WarningCode, message: string) => void;
  /** Says it each time. For changes of state. */
  readonly report: (code: WarningCode, message: string) => void;
}

export function createTelemetry({ onDecision, onWarning }: Listeners): Telemetry {
  const said = new Set<WarningCode>();
  const report = (code: WarningCode, message: string): void => {
    if (onWarning === undefined) print({ code, message });
    else safely(() => onWarning({ code, message }));
  };
  return {
    decided(decision, ctx) {
      if (onDecision !== undefined) safely(() => onDecision(decision, ctx));
    },
    warn(code, message) {
      if (said.has(code)) return;
      said.add(code);
      report(code, message);
    },
    report,
  };
}

/** What a listener does wrong, now or later, is its own fault and no reason to fail a request. */
function safely(tell: () => unknown): void {
  try {
    const told = tell();
    if (isPromise(told)) told.then(undefined, () => {});
  } catch {
    // As above.
  }
}
