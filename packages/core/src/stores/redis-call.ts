import type { Answer, DenialReason } from '../algorithms/algorithm.ts';
import { ALGORITHMS } from '../algorithms/algorithms.ts';
import { StoreError } from '../errors.ts';
import type { Charge } from '../policy/charge.ts';
import type { QuotaRule } from '../policy/policy.ts';
import { redisKey } from './redis-key.ts';
import type { Adjustment, Taken, TakeRequest } from './store.ts';

/** The keys and arguments of a script; the headers of the .lua files say in which order they stand. */
export interface RedisCall {
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

type Args = (string | number)[];

/** Numbers keys and rules as they come, so that each is sent once. */
class Table {
  readonly keys: string[] = [];
  readonly rules: Args = [];
  ruleCount = 0;
  readonly #prefix: string;
  readonly #keyIndex = new Map<string, number>();
  readonly #ruleIndex = new Map<QuotaRule, number>();

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  keyOf(charge: Charge): number {
    const key = redisKey(this.#prefix, charge);
    let index = this.#keyIndex.get(key);
    if (index === undefined) {
      index = this.keys.push(key);
      this.#keyIndex.set(key, index);
    }
    return index;
  }

  ruleOf({ rule }: Charge): number {
    let index = this.#ruleIndex.get(rule);
    if (index === undefined) {
      const { algorithm, limit, windowMs, burst, maxDelayMs = -1, blockMs } = rule;
      const { code } = ALGORITHMS[algorithm];
      // Each argument costs Redis time: what most rules do not have is not sent.
      if (burst === limit && maxDelayMs === -1 && blockMs === 0) this.rules.push(code, limit, windowMs);
      else this.rules.push(`${code}+`, limit, windowMs, burst, maxDelayMs, blockMs);
      index = ++this.ruleCount;
      this.#ruleIndex.set(rule, index);
    }
    return index;
  }

  toCall(now: number | undefined, rest: Args): RedisCall {
    return { keys: this.keys, args: [now ?? -1, this.ruleCount, ...this.rules, ...rest] };
  }
}

/** Writes requests as a call of take.lua. */
export function toTakeCall(
  requests: readonly TakeRequest[],
  mode: 'take' | 'peek',
  prefix: string,
  now: number | undefined,
): RedisCall {
  const table = new Table(prefix);
  const rest: Args = [mode === 'take' ? 1 : 0, requests.length];
  for (const charges of requests) {
    rest.push(charges.length);
    for (const charge of charges) rest.push(table.keyOf(charge), table.ruleOf(charge), charge.cost);
  }
  return table.toCall(now, rest);
}

/** Writes changes as a call of adjust.lua. */
export function toAdjustCall(adjustments: readonly Adjustment[], prefix: string, now: number | undefined): RedisCall {
  const table = new Table(prefix);
  const rest: Args = [adjustments.length];
  for (const { kind, charge, units, at } of adjustments) {
    rest.push(kind, table.keyOf(charge), table.ruleOf(charge), units, at);
  }
  return table.toCall(now, rest);
}

const REASONS: readonly (DenialReason | undefined)[] = [undefined, 'exhausted', 'blocked', 'never'];
const FIELDS = 7;

/** Reads the flat reply of take.lua back into an answer per limit. @throws StoreError when it is something else */
export function fromTakeReply(reply: unknown, requests: readonly TakeRequest[]): Taken[] {
  const count = requests.reduce((sum, charges) => sum + charges.length, 0);
  const numbers = integersOf(reply, count * FIELDS);
  let at = 0;
  return requests.map((charges) => {
    const answers: Answer[] = [];
    const times: number[] = [];
    for (let i = 0; i < charges.length; i++, at += FIELDS) {
      answers.push(toAnswer(numbers, at));
      times.push(numbers[at + 6] as number);
    }
    return { answers, at: times };
  });
}

function toAnswer(numbers: readonly number[], at: number): Answer {
  const reason = REASONS[numbers[at] as number];
  const retryAfterMs = numbers[at + 4] as number;
  return {
    allowed: reason === undefined,
    reason,
    remaining: numbers[at + 1] as number,
    nextMs: numbers[at + 2] as number,
    resetMs: numbers[at + 3] as number,
    retryAfterMs: retryAfterMs < 0 ? Infinity : retryAfterMs,
    delayMs: numbers[at + 5] as number,
  };
}

/** Reads the reply of adjust.lua. @throws StoreError when it is something else */
export function fromAdjustReply(reply: unknown, adjustments: readonly Adjustment[]): boolean[] {
  return integersOf(reply, adjustments.length).map((changed) => changed === 1);
}

function integersOf(reply: unknown, count: number): readonly number[] {
  if (Array.isArray(reply) && reply.length === count) {
    if (reply.every(Number.isSafeInteger)) return reply as number[];
    // A client may be set to give all numbers as strings.
    const numbers = reply.map(Number);
    if (numbers.every(Number.isSafeInteger)) return numbers;
  }
  throw new StoreError('failed', 'Redis answered a script with something else than its reply.');
}
