import { describe, expect, it } from 'vitest';
import type { RequestContext } from '../context.ts';
import type { Decision } from '../decision.ts';
import { createLimiter } from '../limiter.ts';
import { memoryStore } from '../stores/memory-store.ts';
import { createClock } from '../testing/index.ts';
import { expensive, read } from './presets.ts';

describe('read', () => {
  it('is 1000 per minute per identity', () => {
    const { name, limits, onStoreFailure } = read();
    expect({ name, onStoreFailure }).toEqual({ name: 'read', onStoreFailure: 'local' });
    expect(limits[0]).toMatchObject({
      per: ['identity'],
      rule: { algorithm: 'sliding-window', limit: 1000, windowMs: 60_000, name: 'read' },
    });
  });

  it('takes other numbers, and everything that is not about limits', () => {
    const policy = read({ name: 'slow', limit: 10, window: '1h', per: 'ip', mode: 'shadow', refundWhen: () => false });
    expect(policy.limits[0]?.rule).toMatchObject({ limit: 10, windowMs: 3_600_000 });
    expect(policy.mode).toBe('shadow');
  });
});

describe('expensive', () => {
  it('is six requests at once, and then one each ten seconds', () => {
    const clock = createClock();
    const limiter = createLimiter({ store: memoryStore({ now: clock }) });
    const policy = expensive();
    const take = () => limiter.check(contextOf({ user: 'u' }), policy) as Decision;
    expect(Array.from({ length: 7 }, () => take().allowed)).toEqual([true, true, true, true, true, true, false]);
    expect(take().retryAfterMs).toBe(10_000);
    clock.advance(10_000);
    expect([take().allowed, take().allowed]).toEqual([true, false]);
  });

  it('takes other numbers', () => {
    expect(expensive({ limit: 100, burst: 20, cost: 5 }).limits[0]?.rule).toMatchObject({ limit: 100, burst: 20 });
  });
});

function contextOf({ user }: { user: string }): RequestContext {
  return { method: 'POST', path: '/', route: undefined, header: () => undefined, ip: '203.0.113.7', user, raw: {} };
}
