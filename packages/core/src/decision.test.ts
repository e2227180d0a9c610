import { describe, expect, it } from 'vitest';
import { bindingOf, decide, type Outcome } from './decision.ts';
import type { Identity } from './identity/identity.ts';
import { read } from './policy/presets.ts';

const identity: Identity = { kind: 'user', token: 'u.1', verified: true };

function outcome(name: string, facts: Partial<Outcome>): Outcome {
  const neutral = {
    limit: 10,
    windowMs: 60_000,
    burst: 10,
    cost: 1,
    disclosed: true,
    partition: 'u.1',
    allowed: true,
    reason: undefined,
    remaining: 5,
    nextMs: 1,
    resetMs: 1,
    retryAfterMs: 0,
    delayMs: 0,
  };
  return { policy: read(), name, ...neutral, ...facts };
}

const denied = (name: string, retryAfterMs: number): Outcome =>
  outcome(name, { allowed: false, reason: 'exhausted', retryAfterMs });

describe('decide', () => {
  it('denies when one limit denies, and waits for the longest of those that deny', () => {
    const outcomes = [
      outcome('roomy', { nextMs: 9_999_999 }),
      denied('short', 10),
      denied('long', 500),
      outcome('other', {}),
    ];
    const decision = decide([], outcomes, identity, 'store');
    expect(decision).toMatchObject({ allowed: false, retryAfterMs: 500 });
    expect(decision.binding?.name).toBe('long');
  });

  it('never passes when one limit never does', () => {
    const decision = decide([], [denied('long', 500), denied('never', Infinity)], identity, 'store');
    expect(decision).toMatchObject({ allowed: false, retryAfterMs: Infinity, binding: { name: 'never' } });
  });

  it('when allowed, binds the limit with the fewest further requests of this cost', () => {
    const outcomes = [
      outcome('many', { remaining: 50, cost: 1 }),
      outcome('dear', { remaining: 60, cost: 10 }),
      outcome('last', { remaining: 6, cost: 1 }),
    ];
    expect(decide([], outcomes, identity, 'store')).toMatchObject({
      allowed: true,
      retryAfterMs: 0,
      binding: { name: 'dear' },
    });
  });

  it('closed denies without a limit, and nobody knows for how long', () => {
    expect(decide([], [], identity, 'closed')).toMatchObject({
      allowed: false,
      retryAfterMs: undefined,
      binding: undefined,
    });
    expect(decide([], [], identity, 'open')).toMatchObject({ allowed: true, retryAfterMs: 0 });
  });

  it('tells clients of the disclosed limit that binds, and of none while degraded', () => {
    const outcomes = [outcome('site', { remaining: 1, disclosed: false }), outcome('own', { remaining: 9 })];
    expect(decide([], outcomes, identity, 'store')).toMatchObject({
      binding: { name: 'site' },
      quota: { name: 'own' },
    });
    expect(decide([], outcomes, identity, 'local').quota).toBeUndefined();
    const hushed = outcome('login', { policy: read({ disclose: 'retry-after' }) });
    expect(decide([], [hushed], identity, 'store').quota).toBeUndefined();
  });

  it('binds nothing among nothing', () => {
    expect(bindingOf([])).toBeUndefined();
  });
});
