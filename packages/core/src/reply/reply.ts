import type { RequestContext } from '../context.ts';
import type { Verdict } from '../decision.ts';
import { andThen, type MaybePromise } from '../maybe.ts';
import type { WarningListener } from '../warnings.ts';
import { JSON_TYPE, prefersProblem, PROBLEM_TYPE, toBody, toProblem } from './body.ts';
import { type Answered, askHandler, type Refusal, toRefusal } from './denied.ts';
import { type ExistingHeader, numberOf, textOf } from './existing.ts';
import { createHeaderWriter, fieldsOf, type Headers } from './headers.ts';
import { createPartitionKey } from './partition-key.ts';
import type { ReplyParts } from './reply-options.ts';

/** Ready for an adapter to write. */
export interface Reply {
  /** Undefined when the request goes on; 499 when nobody is there any more. */
  readonly status: number | undefined;
  /** To be set: a value already holds what was there. */
  readonly headers: Headers;
  /** To be taken off the response: they would contradict the denial. */
  readonly remove: readonly string[];
  /** The body as a value, for frameworks that serialise it themselves. */
  readonly body: string | object | undefined;
  /** The body as it is sent. */
  readonly text: string;
}

/** Turns a decision into what the client is told, at once unless a handler takes its time. Never fails. */
export type Replier = (verdict: Verdict, ctx: RequestContext, existing: ExistingHeader) => MaybePromise<Reply>;

/** Nobody is there to read it; the status (nginx's "client closed request") is for logs. */
const CANCELLED: Reply = { status: 499, headers: [], remove: [], body: undefined, text: '' };

/** @param hash keyed with the limiter's pepper */
export function createReplier(parts: ReplyParts, hash: (value: string) => string, warn: WarningListener): Replier {
  const partitionKey = parts.partitionKey ? createPartitionKey(hash) : undefined;
  const writeHeaders = createHeaderWriter(parts.families, partitionKey);
  const exposed = [...fieldsOf(parts.families), 'Retry-After'];

  return function reply(verdict, ctx, existing) {
    if (verdict.cancelled) return CANCELLED;
    if (verdict.allowed) {
      // Where headers are written after the handler, a limiter further in may have denied.
      const { headers } = writeHeaders(verdict, existing, numberOf(existing('Retry-After')), Date.now());
      expose(headers, ctx, existing);
      return { status: undefined, headers, remove: [], body: undefined, text: '' };
    }
    const refusal = toRefusal(verdict, parts);
    if (refusal.handler === undefined) return deny(verdict, refusal, undefined, ctx, existing);
    return andThen(askHandler(refusal, ctx, warn), (answer) => deny(verdict, refusal, answer, ctx, existing));
  };

  function deny(
    verdict: Verdict,
    refusal: Refusal,
    answer: Answered | undefined,
    ctx: RequestContext,
    existing: ExistingHeader,
  ): Reply {
    const { waitSeconds, retryAfter, status } = refusal;
    const { headers, remove } = writeHeaders(verdict, existing, waitSeconds ?? 0, Date.now());
    if (retryAfter !== undefined) headers.push(['Retry-After', String(retryAfter)]);
    // What is there is about something else, and sooner.
    else remove.push('Retry-After');
    // RFC 6585 §4: a 429 must not be stored by a cache.
    headers.push(['Cache-Control', 'no-store']);
    expose(headers, ctx, existing);
    const [type, body] = bodyOf(verdict, refusal, answer, ctx);
    headers.push(['Content-Type', type]);
    const own = Object.entries(answer?.headers ?? {}).map(([name, value]) => [capitalised(name), value] as const);
    return {
      status: answer?.status ?? status,
      headers: own.length === 0 ? headers : [...headers.filter(([name]) => !names(own, name)), ...own],
      remove,
      body,
      text: answer?.text ?? JSON.stringify(body),
    };
  }

  function bodyOf(
    verdict: Verdict,
    refusal: Refusal,
    answer: Answered | undefined,
    ctx: RequestContext,
  ): readonly [type: string, body: string | object] {
    if (answer?.body !== undefined) {
      return [typeof answer.body === 'string' ? 'text/plain; charset=utf-8' : JSON_TYPE, answer.body];
    }
    const isProblem = parts.body === 'problem' || prefersProblem(ctx.header('accept'));
    const wording = answer?.status === undefined ? refusal : { ...refusal, status: answer.status };
    return isProblem ? [PROBLEM_TYPE, toProblem(wording, verdict)] : [JSON_TYPE, toBody(refusal)];
  }

  /** Scripts of another origin can read only the fields that are listed (Fetch §3.2.6). */
  function expose(headers: Headers, ctx: RequestContext, existing: ExistingHeader): void {
    if (!parts.exposeHeaders || ctx.header('origin') === undefined) return;
    const before = textOf(existing(EXPOSE));
    const listed = before.toLowerCase().split(/\s*,\s*/);
    if (listed.includes('*')) return;
    const more = exposed.filter((name) => !listed.includes(name.toLowerCase()));
    if (more.length > 0) headers.push([EXPOSE, [...(before === '' ? [] : [before]), ...more].join(', ')]);
  }
}

const EXPOSE = 'Access-Control-Expose-Headers';

/** Adapters look for this one field by its name. */
function capitalised(name: string): string {
  return /^content-type$/i.test(name) ? 'Content-Type' : name;
}

function names(fields: readonly (readonly [string, string])[], name: string): boolean {
  return fields.some(([field]) => field.toLowerCase() === name.toLowerCase());
}
