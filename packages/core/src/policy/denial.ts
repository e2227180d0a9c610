import { checkFunction, checkInteger, invalid } from '../options.ts';
import type { MaybePromise } from '../maybe.ts';

/** What a request is denied with, for a handler that words the answer itself. */
export interface Denial {
  /** The HTTP status that the answer has unless the handler gives another: 429, or 503 while a policy fails closed. */
  readonly status: number;
  /** Seconds until the same request passes, as in the header; undefined when it never can, or the policy does not tell. */
  readonly retryAfter: number | undefined;
  /** What denies: the quota is used up, the caller is blocked, the cost is above the limit, or the store is out. */
  readonly reason: 'exhausted' | 'blocked' | 'never' | 'unavailable';
  /** The name of the policy that denies. */
  readonly policy: string;
  /** The name of its limit that denies, where headers may tell of it. */
  readonly limit: string | undefined;
}

/** An answer of the application's own. What it leaves out is as it would have been. */
export interface DenialAnswer {
  /** 200 to 599, but for 204, 205 and 304, which have no body. */
  readonly status?: number;
  /** Set beside the limiter's own; of one name, these win. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Text is sent as `text/plain` unless `headers` say otherwise, everything else as JSON. */
  readonly body?: string | object;
}

/** How a denial is worded. */
export interface DenialOptions<R = unknown> {
  /** In place of the whole sentence in a 429's body; 1 to 1000 characters. */
  readonly message?: string;
  /** In place of 429, an integer from 400 to 599. Of a policy that fails closed it stays 503. */
  readonly status?: number;
  /**
   * Words the answer to a denied request: `undefined` leaves it as it is. A handler that fails, or answers something that
   * is no answer, gives the default one; the request stays denied.
   */
  readonly handler?: DenialHandler<R>;
}

export type DenialHandler<R> = (denial: Denial, req: R) => MaybePromise<DenialAnswer | undefined>;

export const DENIAL_OPTIONS = ['message', 'status', 'handler'] as const;

/** @throws ConfigError */
export function checkDenialOptions<R>(at: string, { message, status, handler }: DenialOptions<R>): void {
  if (message !== undefined && (typeof message !== 'string' || message.length === 0 || message.length > 1000)) {
    invalid(`${at}.message`, 'a string of 1 to 1000 characters', message);
  }
  if (status !== undefined) checkInteger(`${at}.status`, status, 400, 599);
  checkFunction(`${at}.handler`, handler);
}

/** What frames a message is the server's: a wrong length would run into the next answer of the connection (request smuggling). */
const FRAMING = /^(content-length|transfer-encoding|connection|keep-alive|proxy-.*|te|trailer|upgrade)$/i;
/** Have no body, by definition; what is left out of an answer would be one. */
const WITHOUT_BODY = new Set([204, 205, 304]);
const ANSWER_KEYS = new Set(['status', 'headers', 'body']);

/** Of an RFC 9110 field: a name is a token, a value has no control characters. Anything else would throw when it is set. */
const FIELD_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const FIELD_VALUE = /^[\t\x20-\x7E\x80-\xFF]*$/;

/** Whether a handler answered what can be sent. */
export function isDenialAnswer(answer: unknown): answer is DenialAnswer {
  if (typeof answer !== 'object' || answer === null) return false;
  const { status, headers = {}, body } = answer as DenialAnswer;
  // A misspelt one would be left out without a word.
  if (!Object.keys(answer).every((key) => ANSWER_KEYS.has(key))) return false;
  if (status !== undefined && !isStatus(status)) return false;
  if (typeof headers !== 'object' || headers === null) return false;
  const fields = Object.entries(headers as Record<string, unknown>);
  if (!fields.every(([name, value]) => isField(name, value))) return false;
  return body === undefined || typeof body === 'string' || (typeof body === 'object' && body !== null);
}

function isStatus(status: unknown): boolean {
  return Number.isInteger(status) && inRange(status as number) && !WITHOUT_BODY.has(status as number);
}

function inRange(status: number): boolean {
  return status >= 200 && status <= 599;
}

function isField(name: string, value: unknown): boolean {
  if (!FIELD_NAME.test(name) || FRAMING.test(name)) return false;
  return typeof value === 'string' && FIELD_VALUE.test(value);
}
