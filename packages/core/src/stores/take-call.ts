import { ALGORITHMS } from '../algorithms/algorithms.ts';
import type { Answer, DenialReason } from '../algorithms/algorithm.ts';
import type { QuotaRule } from '../policy/policy.ts';
import { StoreError } from '../errors.ts';
import { redisKey } from './redis-key.ts';
import type { TakeRequest } from './store.ts';

/** The arguments of take.lua; its header says in which order they stand. */
export interface TakeCall {
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

/** Writes requests as a call of take.lua: each key and each rule once, then the requests in their order. */
export function toTakeCall(requests: readonly TakeRequest[], prefix: string, now: number | undefined): TakeCall {
  const keys = new Map<string, number>();
  const rules = new Map<QuotaRule, number>();
  const ruleArgs: (string | number)[] = [];
  const args: (string | number)[] = [];
  for (const charges of requests) {
    args.push(charges.length);
    for (const charge of charges) {
      const { rule } = charge;
      let ruleIndex = rules.get(rule);
      if (ruleIndex === undefined) {
        rules.set(rule, (ruleIndex = rules.size + 1));
        ruleArgs.push(ALGORITHMS[rule.algorithm].code, rule.limit, rule.windowMs, 0);
      }
      const key = redisKey(prefix, charge);
      let keyIndex = keys.get(key);
      if (keyIndex === undefined) keys.set(key, (keyIndex = keys.size + 1));
      args.push(keyIndex, ruleIndex, charge.cost);
    }
  }
  if (now !== undefined) args.push(now);
  return { keys: [...keys.keys()], args: [rules.size, requests.length, ...ruleArgs, ...args] };
}

const REASONS: readonly (DenialReason | undefined)[] = [undefined, 'exhausted', 'never'];
const FIELDS = 5;

/** Reads the flat reply of take.lua back into one answer per limit. @throws StoreError when it is something else */
export function fromTakeReply(reply: unknown, requests: readonly TakeRequest[]): Answer[][] {
  const expected = requests.reduce((sum, charges) => sum + charges.length * FIELDS, 0);
  if (!Array.isArray(reply) || reply.length !== expected || !reply.every(Number.isSafeInteger)) {
    throw new StoreError('failed', 'Redis answered take.lua with something else than its reply.');
  }
  const numbers = reply as number[];
  let at = 0;
  return requests.map((charges) =>
    charges.map(() => {
      const [status = 0, remaining = 0, nextMs = 0, resetMs = 0, retryAfterMs = 0] = numbers.slice(at, (at += FIELDS));
      const reason = REASONS[status];
      const wait = retryAfterMs < 0 ? Infinity : retryAfterMs;
      return { allowed: reason === undefined, reason, remaining, nextMs, resetMs, retryAfterMs: wait };
    }),
  );
}
