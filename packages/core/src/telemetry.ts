import type { RequestContext } from './context.ts';
import { isPromise } from './maybe.ts';
import type { Decision } from './decision.ts';
import { print, type Warning, type WarningCode, type WarningListener } from './warnings.ts';

/** Told what the limiter does. A listener that throws or rejects can never break a decision. */
export interface Listeners {
  /** Every decision, allowed or denied; two of a request that is decided again for the user that authentication named. */
  readonly onDecision?: (decision: Decision, ctx: RequestContext) => unknown;
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
}

export function createTelemetry({ onDecision, onWarning }: Listeners): Telemetry {
  const warnings = new Map<WarningCode, number>();
  const count = (code: WarningCode): number => {
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
      if (onDecision !== undefined) safely(() => onDecision(decision, ctx));
    },
    warn(code, message, cause) {
      if (count(code) === 1) say(code, message, cause);
    },
    report(code, message) {
      count(code);
      say(code, message);
    },
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
