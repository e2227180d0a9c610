import { createLimiter } from '../limiter.ts';
import { read } from '../policy/presets.ts';
import { memoryStore } from '../stores/memory-store.ts';
import { all, Odd, type Values } from './option-values.ts';

/** For an adapter's `limiter`. */
export function limiterValues(): Values {
  const limiter = createLimiter();
  const noLimiters = all(null, false, '', 'x', 5, {}, [], [limiter], new Map(), { check() {} }, memoryStore());
  return { good: [limiter, Object.freeze(limiter)], bad: [...noLimiters, createLimiter, Promise.resolve(limiter)] };
}

/** For what an adapter is to limit by. */
export function policyValues(): Values {
  const policy = read();
  // oxlint-disable-next-line unicorn/no-new-array -- what is meant is a hole
  const holes: unknown[] = new Array(1);
  return {
    good: [policy, [policy], [policy, read()], Object.freeze([policy]), () => policy],
    bad: [
      ...all(null, false, true, '', 'read', 5, {}, [], new Map(), new Set([policy]), Promise.resolve(policy)),
      new Odd([undefined], { received: 'undefined' }),
      new Odd(holes, { received: 'undefined' }),
      new Odd([policy, {}], { received: 'an object' }),
      new Odd([policy, false], { received: 'false' }),
      new Odd([[policy]], { received: 'an array' }),
      new Odd([read], { received: 'a function' }),
    ],
  };
}
