import { checkFunction, checkInteger, checkOptions } from '../options.ts';
import { createWarner } from '../warnings.ts';
import { adjustAll } from './adjust-all.ts';
import { createBoundedCounters } from './bounded-counters.ts';
import type { Adjustment, Store, Taken, TakeRequest } from './store.ts';
import { peekAll, takeAll } from './take-all.ts';

export interface MemoryStoreOptions {
  /** The most counters held, 1 to 16 777 216; default 100 000 (about 25 MB). */
  readonly maxKeys?: number;
  /** A clock in whole ms that never goes back; default the process's monotonic clock. For tests. */
  readonly now?: () => number;
}

/** A store that answers at once. */
export interface MemoryStore extends Store {
  take(requests: readonly TakeRequest[]): readonly Taken[];
  peek(request: TakeRequest): ReturnType<typeof peekAll>;
  adjust(adjustments: readonly Adjustment[]): readonly boolean[];
  /** How many counters it holds. */
  readonly size: number;
}

/** Counts in this process: exact for a single instance, and the fallback while a shared store is out. */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  checkOptions('memoryStore', options, ['maxKeys', 'now']);
  const { maxKeys = 100_000, now = monotonicMs } = options;
  checkInteger('memoryStore.maxKeys', maxKeys, 1, 2 ** 24);
  checkFunction('memoryStore.now', now);
  const { warn, listen } = createWarner();
  const full = `The memory store holds ${maxKeys} counters, none of which can go: new callers share one. Raise maxKeys or use Redis.`;
  const counters = createBoundedCounters(maxKeys, now, () => warn('memory-store-full', full));

  return {
    name: 'memory',
    deadlineMs: 100,
    listen,
    get size() {
      return counters.size;
    },
    take: (requests) =>
      requests.map((charges) => counters.onSlots(charges, true, (slots, time) => takeAll(charges, slots, time))),
    peek: (charges) => counters.onSlots(charges, true, (slots, time) => peekAll(charges, slots, time)),
    adjust: (adjustments) =>
      counters.onSlots(
        adjustments.map(({ charge }) => charge),
        false,
        (slots, time) => adjustAll(adjustments, slots, time),
      ),
  };
}

function monotonicMs(): number {
  return Math.floor(performance.now());
}
