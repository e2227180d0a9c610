import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StoreError, type StoreErrorCode } from '../errors.ts';
import { createClock } from '../testing/index.ts';
import { type Breaker, createBreaker } from './breaker.ts';

const error = (code: StoreErrorCode): StoreError => new StoreError(code, 'no');

function fail(breaker: Breaker, code: StoreErrorCode = 'deadline', times = 1): void {
  for (let i = 0; i < times; i++) {
    const call = breaker.enter();
    if (call !== undefined) breaker.failed(call, error(code));
  }
}

function succeed(breaker: Breaker, times = 1): void {
  for (let i = 0; i < times; i++) {
    const call = breaker.enter();
    if (call !== undefined) breaker.succeeded(call);
  }
}

describe('the breaker', () => {
  it('opens after five failures in a row, and not before', () => {
    const breaker = createBreaker(createClock());
    fail(breaker, 'deadline', 4);
    succeed(breaker);
    fail(breaker, 'refused', 4);
    expect(breaker.state).toBe('closed');
    fail(breaker, 'deadline');
    expect(breaker.state).toBe('open');
    expect(breaker.enter()).toBeUndefined();
  });

  it('opens when half of the last 32 calls failed, in whatever order', () => {
    const breaker = createBreaker(createClock());
    for (let i = 0; i < 15; i++) {
      fail(breaker);
      succeed(breaker);
    }
    expect(breaker.state).toBe('closed');
    fail(breaker);
    expect(breaker.state).toBe('open');
    const sometimes = createBreaker(createClock());
    for (let i = 0; i < 200; i++) {
      fail(sometimes);
      succeed(sometimes, 2);
    }
    expect(sometimes.state).toBe('closed');
  });

  it('lets one probe through when its time has come, and closes when that succeeds', () => {
    const clock = createClock();
    const breaker = createBreaker(clock);
    fail(breaker, 'deadline', 5);
    clock.advance(249);
    expect(breaker.enter()).toBeUndefined();
    clock.advance(1);
    const probe = breaker.enter();
    expect([probe, breaker.enter(), breaker.enter()]).toEqual([expect.any(Number), undefined, undefined]);
    breaker.succeeded(probe as number);
    expect([breaker.state, breaker.enter()]).toEqual(['closed', expect.any(Number)]);
  });

  it('waits twice as long after each probe that fails, up to 5 s', () => {
    const clock = createClock();
    const breaker = createBreaker(clock);
    fail(breaker, 'deadline', 5);
    for (const ms of [250, 500, 1000, 2000, 4000, 5000, 5000]) {
      clock.advance(ms - 1);
      expect(breaker.enter()).toBeUndefined();
      clock.advance(1);
      fail(breaker);
      expect(breaker.state).toBe('open');
    }
  });

  it('does not start anew for a store that comes and goes', () => {
    const clock = createClock();
    const breaker = createBreaker(clock);
    fail(breaker, 'deadline', 5);
    clock.advance(250);
    succeed(breaker);
    clock.advance(1000);
    fail(breaker, 'deadline', 5);
    clock.advance(250);
    expect(breaker.enter()).toBeUndefined();
    clock.advance(250);
    succeed(breaker);
    clock.advance(10_000);
    fail(breaker, 'deadline', 5);
    clock.advance(250);
    expect(breaker.enter()).toBeDefined();
  });

  it('is told nothing by calls of an earlier state', () => {
    const clock = createClock();
    const breaker = createBreaker(clock);
    const late = Array.from({ length: 20 }, () => breaker.enter() as number);
    fail(breaker, 'deadline', 5);
    for (const call of late.slice(0, 10)) breaker.succeeded(call);
    expect(breaker.state).toBe('open');
    clock.advance(250);
    succeed(breaker);
    for (const call of late.slice(10)) breaker.failed(call, error('deadline'));
    expect(breaker.state).toBe('closed');
  });

  it('is not opened by what is about one command, or was never sent', () => {
    const breaker = createBreaker(createClock());
    fail(breaker, 'failed', 100);
    fail(breaker, 'unavailable', 100);
    expect(breaker.state).toBe('closed');
  });

  it('asks at once no more, and then every 5 s, what somebody has to mend', () => {
    const clock = createClock();
    const breaker = createBreaker(clock);
    fail(breaker, 'misconfigured');
    expect(breaker.state).toBe('open');
    clock.advance(4999);
    expect(breaker.enter()).toBeUndefined();
    clock.advance(1);
    fail(breaker, 'misconfigured');
    clock.advance(4999);
    expect(breaker.enter()).toBeUndefined();
    clock.advance(1);
    succeed(breaker);
    expect(breaker.state).toBe('closed');
  });

  it('a probe that found nobody opens it again, and one that was answered with an error closes it', () => {
    const clock = createClock();
    const breaker = createBreaker(clock);
    fail(breaker, 'deadline', 5);
    clock.advance(250);
    fail(breaker, 'unavailable');
    expect(breaker.state).toBe('open');
    clock.advance(500);
    fail(breaker, 'failed');
    expect(breaker.state).toBe('closed');
  });

  it('never has two probes under way, and is never stuck', () => {
    const step = fc.oneof(
      fc.constant('enter' as const),
      fc.constantFrom('deadline', 'refused', 'unavailable', 'misconfigured', 'failed', 'ok').map((how) => ({ how })),
      fc.integer({ min: 0, max: 6000 }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const clock = createClock();
        const breaker = createBreaker(clock);
        const open: number[] = [];
        for (const one of steps) {
          if (typeof one === 'number') clock.advance(one);
          else if (one === 'enter') {
            const before = breaker.state;
            const call = breaker.enter();
            if (call !== undefined) open.push(call);
            if (before === 'half-open') expect(call).toBeUndefined();
          } else {
            const call = open.pop();
            if (call === undefined) continue;
            if (one.how === 'ok') breaker.succeeded(call);
            else breaker.failed(call, error(one.how));
          }
        }
        for (const call of open) breaker.succeeded(call);
        clock.advance(5000);
        const call = breaker.enter();
        expect(call).toBeDefined();
        breaker.succeeded(call as number);
        expect(breaker.state).toBe('closed');
      }),
    );
  });
});
