import type { Meter, MeterProvider } from '@opentelemetry/api';
import type { BreakerState } from '../resilience/breaker.ts';
import { METRICS } from './names.ts';

const VALUES: Readonly<Record<BreakerState, number>> = { 'closed': 0, 'half-open': 1, 'open': 2 };

/**
 * While requests come, an open breaker lets one probe every 5 s at most. One that has not moved for so long belongs to a
 * limiter that nobody asks, and may be gone: it must not hold an alert.
 */
const IDLE_MS = 30_000;

interface Entry {
  readonly value: number;
  readonly since: number;
}

/** All breakers of the process: two limiters on one store tell one value, the worse. */
interface Board {
  /** Of each store, the breakers that are not closed. One that is closed is not held: limiters may come and go. */
  readonly stores: Map<string, Map<object, Entry>>;
  readonly told: WeakSet<MeterProvider>;
}

/** Shared by all copies of the package in a process (ESM and CommonJS): one callback would hide the other's values. */
const BOARD = Symbol.for('tollgate.breakers');

export interface BreakerGauge {
  readonly moved: (state: BreakerState) => void;
  /** Lets a provider observe all breakers. */
  readonly observe: (meter: Meter, provider: MeterProvider) => void;
}

export function createBreakerGauge(store: string): BreakerGauge {
  const host = globalThis as { [BOARD]?: Board };
  const board = (host[BOARD] ??= { stores: new Map(), told: new WeakSet() });
  const own = board.stores.get(store) ?? new Map<object, Entry>();
  board.stores.set(store, own);
  const me = {};
  return {
    moved(state) {
      forgetIdle(own);
      if (state === 'closed') own.delete(me);
      else own.set(me, { value: VALUES[state], since: performance.now() });
    },
    observe(meter, provider) {
      if (board.told.has(provider)) return;
      board.told.add(provider);
      const { name, ...options } = METRICS.breakerState;
      meter.createObservableGauge(name, options).addCallback((result) => {
        for (const [each, breakers] of board.stores) {
          forgetIdle(breakers);
          result.observe(worstOf(breakers), { store: each });
        }
      });
    },
  };
}

function forgetIdle(breakers: Map<object, Entry>): void {
  for (const [breaker, { since }] of breakers) if (performance.now() - since > IDLE_MS) breakers.delete(breaker);
}

function worstOf(breakers: ReadonlyMap<object, Entry>): number {
  let worst = VALUES.closed;
  for (const { value } of breakers.values()) worst = Math.max(worst, value);
  return worst;
}
