import type { Rule } from '../algorithms/algorithm.ts';
import { advance, lifeMsOf, NOTHING } from '../algorithms/counter.ts';
import { checkFunction, checkInteger, checkOptions } from '../options.ts';
import type { Charge } from '../policy/charge.ts';
import { createWarner } from '../warnings.ts';
import { adjustAll } from './adjust-all.ts';
import type { Adjustment, Store, Taken, TakeRequest } from './store.ts';
import { peekAll, type Slot, takeAll } from './take-all.ts';

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

interface Entry extends Slot {
  /** The rule of the last charge tells how full the counter is when room is needed. */
  rule: Rule;
  /** The map that holds it; undefined for one that was only looked at. */
  home: Map<string, Entry> | undefined;
}

/** How many entries are looked at when one is added. Bounds the work per request, whatever the size. */
const SWEEP = 2;
const SAMPLE = 16;
/** Below this size dead entries stay: they cost little, and no answer depends on them. */
const SWEEP_FROM = 1024;

/** Counts in this process: exact for a single instance, and the fallback while a shared store is out. */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  checkOptions('memoryStore', options, ['maxKeys', 'now']);
  const { maxKeys = 100_000, now = monotonicMs } = options;
  checkInteger('memoryStore.maxKeys', maxKeys, 1, 2 ** 24);
  checkFunction('memoryStore.now', now);

  const entries = new Map<string, Entry>();
  const overflow = new Map<string, Entry>();
  let hand = entries.entries();
  const { warn, listen } = createWarner();

  return {
    name: 'memory',
    deadlineMs: 100,
    listen,
    get size() {
      return entries.size;
    },
    take: (requests) => requests.map((charges) => onSlots(charges, (slots, time) => takeAll(charges, slots, time))),
    peek: (charges) => onSlots(charges, (slots, time) => peekAll(charges, slots, time)),
    adjust: (adjustments) =>
      onSlots(
        adjustments.map(({ charge }) => charge),
        (slots, time) => adjustAll(adjustments, slots, time),
      ),
  };

  function onSlots<T>(charges: readonly Charge[], work: (slots: readonly Slot[], time: number) => T): T {
    const time = now();
    const keys = charges.map(({ rule, partition }) => `${rule.path}:${partition}`);
    const slots: Entry[] = [];
    for (let i = 0; i < keys.length; i++) {
      const twin = keys.indexOf(keys[i] as string);
      slots.push(twin < i ? (slots[twin] as Entry) : find(keys[i] as string, charges[i] as Charge, time));
    }
    const result = work(slots, time);
    for (let i = 0; i < slots.length; i++) keep(keys[i] as string, slots[i] as Entry, charges[i] as Charge);
    return result;
  }

  function find(key: string, { rule }: Charge, time: number): Entry {
    const entry = entries.get(key);
    if (entry !== undefined) return entry;
    if (entries.size >= SWEEP_FROM || entries.size >= maxKeys) dropExpired(time);
    if (entries.size >= maxKeys && !evictOne(time)) return shared(rule);
    return { held: NOTHING, rule, home: undefined };
  }

  /** A counter that holds something is kept; one that was only looked at never existed. */
  function keep(key: string, entry: Entry, { rule }: Charge): void {
    entry.rule = rule;
    const empty = entry.held.state === undefined && entry.held.block === undefined;
    if (entry.home === undefined && !empty) {
      entry.home = entries;
      entries.set(key, entry);
    } else if (entry.home === entries && empty) {
      entries.delete(key);
    }
  }

  /** Walks on through the entries like the hand of a clock, so that each is looked at in turn. */
  function nextEntry(): [string, Entry] | undefined {
    let next = hand.next();
    if (next.done === true) {
      hand = entries.entries();
      next = hand.next();
    }
    return next.done === true ? undefined : next.value;
  }

  function dropExpired(time: number): void {
    for (let i = 0; i < SWEEP; i++) {
      const next = nextEntry();
      if (next !== undefined && isDead(next[1], time)) entries.delete(next[0]);
    }
  }

  /**
   * Makes room by forgetting, of a few, an expired entry or else the one nearest to its full quota. Never an exhausted
   * or blocked one: a flood of fresh keys must not wash out a limit that is doing its work (GHSA-2vgg-9h6w-m454).
   */
  function evictOne(time: number): boolean {
    let fullest: string | undefined;
    let most = 0;
    for (let i = 0; i < SAMPLE; i++) {
      const next = nextEntry();
      if (next === undefined) break;
      const [key, entry] = next;
      if (isDead(entry, time)) return entries.delete(key);
      const { held, rule } = entry;
      const share = advance(held, rule, 0, time).answer.remaining / Math.max(1, rule.limit, rule.burst);
      if (share > most) [fullest, most] = [key, share];
    }
    return fullest !== undefined && entries.delete(fullest);
  }

  /** When only exhausted counters are left, all new keys of a rule share one. */
  function shared(rule: Charge['rule']): Entry {
    if (overflow.size === 0) {
      const sentence = `The memory store holds ${maxKeys} counters, none of which can go: new callers share one. Raise maxKeys or use Redis.`;
      warn('memory-store-full', sentence);
    }
    let entry = overflow.get(rule.path);
    if (entry === undefined) overflow.set(rule.path, (entry = { held: NOTHING, rule, home: overflow }));
    return entry;
  }
}

function isDead({ held, rule }: Entry, time: number): boolean {
  return lifeMsOf(held, rule, time) <= 0;
}

function monotonicMs(): number {
  return Math.floor(performance.now());
}
