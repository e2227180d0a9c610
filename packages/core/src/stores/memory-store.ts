import { ALGORITHMS } from '../algorithms/algorithms.ts';
import type { Rule } from '../algorithms/algorithm.ts';
import { checkFunction, checkInteger, checkOptions } from '../options.ts';
import type { Charge } from '../policy/charge.ts';
import { warnOnce } from '../warnings.ts';
import type { Store, TakeRequest } from './store.ts';
import { type Counter, takeAll } from './take-all.ts';

export interface MemoryStoreOptions {
  /** The most counters held, 1 to 16 777 216; default 100 000 (about 25 MB). */
  readonly maxKeys?: number;
  /** A clock in whole ms that never goes back; default the process's monotonic clock. For tests. */
  readonly now?: () => number;
}

export interface MemoryStore extends Store {
  /** Decides at once. */
  take(requests: readonly TakeRequest[]): ReturnType<typeof takeAll>[];
  /** How many counters it holds. */
  readonly size: number;
}

interface Entry extends Counter {
  /** The rule of the last charge tells how full the counter is when room is needed. */
  rule: Rule;
  /** Whether a map holds it already. */
  held: boolean;
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

  return {
    name: 'memory',
    deadlineMs: 100,
    get size() {
      return entries.size;
    },
    take: (requests) => requests.map((charges) => takeOne(charges, now())),
  };

  function takeOne(charges: TakeRequest, time: number): ReturnType<typeof takeAll> {
    const keys = charges.map(({ rule, partition }) => `${rule.path}:${partition}`);
    const found: Entry[] = [];
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] as string;
      const twin = keys.indexOf(key);
      found.push(twin < i ? (found[twin] as Entry) : find(key, charges[i] as Charge, time));
    }
    const answers = takeAll(charges, found, time);
    for (let i = 0; i < found.length; i++) keep(keys[i] as string, found[i] as Entry, charges[i] as Charge);
    return answers;
  }

  function find(key: string, { rule }: Charge, time: number): Entry {
    const entry = entries.get(key);
    if (entry !== undefined) return entry;
    if (entries.size >= SWEEP_FROM || entries.size >= maxKeys) dropExpired(time);
    if (entries.size >= maxKeys && !evictOne(time)) return shared(rule);
    return { rule, state: undefined, expiresAt: 0, held: false };
  }

  /** A counter that was charged is kept; one that was only looked at never existed. */
  function keep(key: string, entry: Entry, { rule }: Charge): void {
    entry.rule = rule;
    if (entry.held || entry.state === undefined) return;
    entry.held = true;
    entries.set(key, entry);
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
      if (next !== undefined && next[1].expiresAt <= time) entries.delete(next[0]);
    }
  }

  /**
   * Makes room by forgetting, of a few, an expired entry or else the one nearest to its full quota. Never an exhausted
   * one: a flood of fresh keys must not wash out a limit that is doing its work (GHSA-2vgg-9h6w-m454).
   */
  function evictOne(time: number): boolean {
    let fullest: string | undefined;
    let most = 0;
    for (let i = 0; i < SAMPLE; i++) {
      const next = nextEntry();
      if (next === undefined) break;
      const [key, { rule, state, expiresAt }] = next;
      if (expiresAt <= time) return entries.delete(key);
      const share = ALGORITHMS[rule.algorithm].step(state, rule, 0, time).answer.remaining / Math.max(1, rule.limit);
      if (share > most) [fullest, most] = [key, share];
    }
    return fullest !== undefined && entries.delete(fullest);
  }

  /** When only exhausted counters are left, all new keys of a rule share one. */
  function shared(rule: Charge['rule']): Entry {
    warnOnce(
      'memory-store-full',
      `The memory store holds ${maxKeys} counters, none of which can go: new callers share one. Raise maxKeys or use Redis.`,
    );
    let entry = overflow.get(rule.path);
    if (entry === undefined) overflow.set(rule.path, (entry = { rule, state: undefined, expiresAt: 0, held: true }));
    return entry;
  }
}

function monotonicMs(): number {
  return Math.floor(performance.now());
}
