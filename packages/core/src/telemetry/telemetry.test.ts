import { afterEach, describe, expect, it, vi } from 'vitest';
import type { RequestContext } from '../context.ts';
import { StoreError } from '../errors.ts';
import { createLimiter } from '../limiter.ts';
import type { LimiterOptions } from '../limiter-options.ts';
import { definePolicy } from '../policy/define-policy.ts';
import { memoryStore } from '../stores/memory-store.ts';
import type { DegradedEvent } from '../resilience/store-observer.ts';
import { requestOf } from '../testing/request.ts';

afterEach(() => vi.restoreAllMocks());

const ctx = (): RequestContext => requestOf({ user: 'u' });
const policy = definePolicy({ name: 'p', limits: [{ limit: 1000, window: '1m' }] });

/** A limiter whose store can be made to fail. */
function withStore(options: LimiterOptions = {}) {
  const { take, ...rest } = memoryStore();
  let error: Error | undefined;
  const store = {
    ...rest,
    name: 'mine',
    take(requests: Parameters<typeof take>[0]) {
      if (error !== undefined) throw error;
      return take(requests);
    },
  };
  const limiter = createLimiter({ store, onWarning: () => {}, ...options });
  return {
    ask: () => limiter.check(ctx(), policy),
    fail: (next?: Error) => void (error = next),
  };
}

describe('onDegraded', () => {
  it('is told each change of state once, whatever comes between', () => {
    const events: DegradedEvent[] = [];
    const warnings: string[] = [];
    const { ask, fail } = withStore({
      onDegraded: (event) => events.push(event),
      onWarning: ({ code }) => warnings.push(code),
    });
    const now = vi.spyOn(performance, 'now');
    const start = performance.now();
    ask();
    for (const [at, error] of [
      [0, new StoreError('unavailable', 'It is away.')],
      [10, new StoreError('deadline', 'It is slow.')],
      // Up and down is one outage.
      [20, undefined],
      [30, new StoreError('unavailable', 'It is away again.')],
      [1000, undefined],
      [6000, undefined],
      [6010, undefined],
      [7000, new StoreError('unavailable', 'It went.')],
    ] as const) {
      now.mockReturnValue(start + at);
      fail(error);
      ask();
    }
    expect(events).toEqual([
      { state: 'degraded', store: 'mine', reason: 'It is away.' },
      { state: 'recovered', store: 'mine', reason: 'It decided for 2 s without a failure.' },
      { state: 'degraded', store: 'mine', reason: 'It went.' },
    ]);
    expect(warnings).toEqual(['store-degraded', 'store-recovered', 'store-degraded']);
  });

  it('is not told of one request that failed', () => {
    const onDegraded = vi.fn<(event: DegradedEvent) => void>();
    const { ask, fail } = withStore({ onDegraded });
    fail(new StoreError('failed', 'WRONGTYPE'));
    expect(ask()).toMatchObject({ source: 'local' });
    expect(onDegraded).not.toHaveBeenCalled();
  });
});

describe('listeners', () => {
  const broken = {
    'throw': () => {
      throw new Error('mine');
    },
    'reject': () => Promise.reject(new Error('mine')),
    'answer something odd': () => ({
      // oxlint-disable-next-line unicorn/no-thenable -- an odd one
      then() {
        throw new Error('mine');
      },
    }),
  };

  it.each(Object.entries(broken))('that %s break no decision', async (_, listener) => {
    const { ask, fail } = withStore({ onDecision: listener, onDegraded: listener, onWarning: listener });
    fail(new Error('away'));
    expect(ask()).toMatchObject({ allowed: true, source: 'local' });
    fail();
    expect(ask()).toMatchObject({ allowed: true, source: 'store' });
    // A rejection that nobody handles would come up now, and fail the run.
    await new Promise((resolve) => setTimeout(resolve));
  });
});
