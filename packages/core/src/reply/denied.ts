import type { RequestContext } from '../context.ts';
import type { Verdict } from '../decision.ts';
import { isPromise, type MaybePromise } from '../maybe.ts';
import { warnOfFailure } from '../policy/ask.ts';
import { type Denial, type DenialAnswer, type DenialHandler, isDenialAnswer } from '../policy/denial.ts';
import type { Policy } from '../policy/policy.ts';
import type { WarningListener } from '../warnings.ts';
import type { Wording } from './body.ts';
import { toSeconds } from './headers.ts';
import type { ReplyParts } from './reply-options.ts';

/** When nobody knows how long an outage lasts: soon, but not in step with the next request. */
const OUTAGE_RETRY_SECONDS = 5;

/** A denial, before it is put into words. */
export interface Refusal extends Wording {
  readonly denial: Denial;
  /** Seconds, also where the client is not told. */
  readonly waitSeconds: number | undefined;
  readonly handler: DenialHandler<never> | undefined;
}

export function toRefusal(verdict: Verdict, { jitterMs, message, status, handler }: ReplyParts): Refusal {
  const isClosed = verdict.source === 'closed';
  const policy = refusingPolicy(verdict, isClosed);
  const waitSeconds = waitOf(verdict, jitterMs);
  const tells = verdict.policies.every(({ disclose }) => disclose !== 'none');
  const { binding } = verdict;
  const denial: Denial = {
    status: isClosed ? 503 : (policy?.status ?? status ?? 429),
    retryAfter: tells ? waitSeconds : undefined,
    reason: isClosed ? 'unavailable' : (binding?.reason ?? 'exhausted'),
    policy: policy?.name ?? '',
    limit: binding?.disclosed === true ? binding.name : undefined,
  };
  return {
    denial,
    isClosed,
    waitSeconds,
    status: denial.status,
    retryAfter: denial.retryAfter,
    message: policy?.message ?? message,
    handler: policy?.handler ?? handler,
  };
}

function refusingPolicy({ binding, policies }: Verdict, isClosed: boolean): Policy<never> | undefined {
  return isClosed ? policies.find(({ onStoreFailure }) => onStoreFailure === 'closed') : binding?.policy;
}

/**
 * At least 1: a client told 0 comes back at once, in a loop. Undefined when the request can never pass. Jitter only adds:
 * who comes back earlier than told to would be denied again.
 */
function waitOf({ retryAfterMs }: Verdict, jitterMs: number): number | undefined {
  if (retryAfterMs === Infinity) return undefined;
  const ms = retryAfterMs ?? OUTAGE_RETRY_SECONDS * 1000;
  return Math.max(1, toSeconds(ms + Math.random() * jitterMs));
}

/** What a handler said, ready to be sent. */
export interface Answered extends DenialAnswer {
  /** The body, if it has one, as it is sent. */
  readonly text: string | undefined;
}

/** Asks the application's handler; one that fails, or answers nothing that can be sent, leaves the answer as it is. */
export function askHandler(
  { handler, denial }: Refusal,
  ctx: RequestContext,
  warn: WarningListener,
): MaybePromise<Answered | undefined> {
  const failed = (error: unknown): undefined => {
    warnOfFailure(warn, `handler of policy "${denial.policy}"`, error);
    return undefined;
  };
  const read = (answer: unknown): Answered | undefined => {
    if (answer === undefined) return undefined;
    if (isDenialAnswer(answer)) {
      const text = serialize(answer.body);
      if (answer.body === undefined || text !== undefined) return { ...answer, text };
    }
    warn('answer-unusable', `The handler of policy "${denial.policy}" answered nothing that can be sent.`);
    return undefined;
  };
  try {
    const answer: unknown = handler?.(denial, ctx.raw as never);
    return isPromise(answer) ? Promise.resolve(answer).then(read).catch(failed) : read(answer);
  } catch (error) {
    return failed(error);
  }
}

function serialize(body: DenialAnswer['body']): string | undefined {
  return typeof body === 'string' ? body : JSON.stringify(body);
}
