import type { RequestContext } from './context.ts';
import type { Decision } from './decision.ts';
import { type Warning, type WarningCode, warnOnce } from './warnings.ts';

/** Told what the limiter does. A listener that throws can never break a decision. */
export interface Listeners {
  /** Every decision, allowed or denied. */
  readonly onDecision?: (decision: Decision, ctx: RequestContext) => void;
  /** Something an operator should know; once per code and limiter. Default: printed, once per process. */
  readonly onWarning?: (warning: Warning) => void;
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
    if (onWarning === undefined) warnOnce(code, message);
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

function safely(tell: () => void): void {
  try {
    tell();
  } catch {
    // The listener's own fault, and no reason to fail a request.
  }
}
