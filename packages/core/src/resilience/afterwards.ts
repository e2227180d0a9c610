import type { RequestContext, ResponseFacts } from '../context.ts';
import { isPromise } from '../maybe.ts';
import { warnOfFailure } from '../policy/ask.ts';
import type { PolicyCharges } from '../policy/charge.ts';
import type { ResponseTest } from '../policy/policy.ts';
import type { WarningListener } from '../warnings.ts';
import type { Settlement } from './settlement.ts';

/** Does what a policy wants done when the response to an admitted request is known: `refundWhen`, and `resetWhen` of its limits. */
export function settleAfterwards(
  settlement: Settlement,
  asked: readonly PolicyCharges[],
  ctx: RequestContext,
  warn: WarningListener,
): void {
  // Nobody handled a denied request: its response is no success of anything, though a handler may word it as a 200.
  if (!settlement.decision.allowed) return;
  const waiting = asked.filter(
    ({ policy, charges }) => policy.refundWhen !== undefined || charges.some(({ resetWhen }) => resetWhen),
  );
  if (waiting.length === 0) return;
  if (ctx.onFinish === undefined) {
    warn('response-unknown', 'refundWhen and resetWhen are not asked: the adapter cannot tell how a request ended.');
    return;
  }
  ctx.onFinish((response) => {
    // A client that goes away must not get its attempt back by going away.
    if (response.aborted) return;
    for (const { policy, charges } of waiting) {
      ask(policy.refundWhen, response, () => settlement.giveBack(charges));
      for (const charge of charges) ask(charge.resetWhen, response, () => settlement.reset([charge]));
    }
  });

  function ask(test: ResponseTest<never> | undefined, response: ResponseFacts, act: () => unknown): void {
    try {
      const answer: unknown = test?.(response, ctx.raw as never);
      if (isPromise(answer)) answer.then((late) => actOn(late, act), failed);
      else actOn(answer, act);
    } catch (error) {
      failed(error);
    }
  }
  function failed(error: unknown): void {
    warnOfFailure(warn, 'refundWhen or resetWhen', error);
  }
}

/** Only a clear yes gives anything back. */
function actOn(answer: unknown, act: () => unknown): void {
  if (answer === true) act();
}
