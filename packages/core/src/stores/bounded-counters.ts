import { advance, lifeMsOf, NOTHING } from '../algorithms/counter.ts';
import type { Rule } from '../algorithms/algorithm.ts';
import type { Charge } from '../policy/charge.ts';
import type { Slot } from './take-all.ts';

interface Entry extends Slot {
  /** The rule of the last charge tells how full the counter is when room is needed. */
  rule: Rule;
  /** The map that holds it; undefined for one that was only looked at. */
  home: Map<string, Entry> | undefined;
  /** Whose place it takes if it is to be held. */
  evicts: string | undefined;
}

/** What a request can add. */
interface Room {
  free: number;
  readonly evictable: string[];
}

/** The home of what is never held. */
const NOWHERE: Map<string, Entry> = new Map();

/** How many entries are looked at when one is added. Bounds the work per request, whatever the size. */
const SWEEP = 2;
const SAMPLE = 16;
/** Below this size dead entries stay: they cost little, and no answer depends on them. */
const SWEEP_FROM = 1024;

/** Counters in memory, at most so many. */
export interface BoundedCounters {
  readonly size: number;
  /**
   * Finds the counters of some charges, lets work be done on them, and keeps what holds something then.
   * @param mayShare whether a new counter for which there is no room may be the one that all such callers share
   */
  onSlots<T>(charges: readonly Charge[], mayShare: boolean, work: (slots: readonly Slot[], time: number) => T): T;
}

/** @param onFull told when new callers begin to share one counter */
export function createBoundedCounters(maxKeys: number, now: () => number, onFull: () => void): BoundedCounters {
  const entries = new Map<string, Entry>();
  const overflow = new Map<string, Entry>();
  let hand = entries.entries();

  return {
    get size() {
      return entries.size;
    },
    onSlots,
  };

  function onSlots<T>(
    charges: readonly Charge[],
    mayShare: boolean,
    work: (slots: readonly Slot[], time: number) => T,
  ): T {
    const time = now();
    const keys = charges.map(({ rule, partition }) => `${rule.path}:${partition}`);
    const room = makeRoom(keys, time);
    const slots: Entry[] = [];
    for (let i = 0; i < keys.length; i++) {
      const twin = keys.indexOf(keys[i] as string);
      const { rule } = charges[i] as Charge;
      slots.push(twin < i ? (slots[twin] as Entry) : find(keys[i] as string, rule, room, mayShare));
    }
    const result = work(slots, time);
    for (let i = 0; i < slots.length; i++) keep(keys[i] as string, slots[i] as Entry, charges[i] as Charge);
    return result;
  }

  function find(key: string, rule: Charge['rule'], room: Room, mayShare: boolean): Entry {
    const entry = entries.get(key);
    if (entry !== undefined) return entry;
    const blank: Entry = { held: NOTHING, rule, home: undefined, evicts: undefined };
    if (room.free > 0) {
      room.free--;
      return blank;
    }
    blank.evicts = room.evictable.pop();
    if (blank.evicts !== undefined) return blank;
    // Somebody else's change is not for the counter that all newcomers share: it finds nothing, and leaves nothing.
    return mayShare ? shared(rule) : { ...blank, home: NOWHERE };
  }

  /** A counter that holds something is kept; one that was only looked at never existed, and took nobody's place. */
  function keep(key: string, entry: Entry, { rule }: Charge): void {
    entry.rule = rule;
    const empty = entry.held.state === undefined && entry.held.block === undefined;
    if (entry.home === undefined && !empty) {
      if (entry.evicts !== undefined) entries.delete(entry.evicts);
      entry.evicts = undefined;
      entry.home = entries;
      entries.set(key, entry);
    } else if (entry.home === entries && empty) {
      entries.delete(key);
      entry.home = undefined;
    }
  }

  /** How many counters can be added for a request, and which ones could go for more. Not those of the request itself. */
  function makeRoom(keys: readonly string[], time: number): Room {
    if (entries.size >= SWEEP_FROM || entries.size + keys.length > maxKeys) dropExpired(time);
    const room: Room = { free: Math.max(0, maxKeys - entries.size), evictable: [] };
    if (room.free >= keys.length) return room;
    for (const key of keys) {
      if (entries.has(key)) continue;
      const candidate = nearestToFull(time, [...keys, ...room.evictable]);
      if (candidate !== undefined) room.evictable.push(candidate);
    }
    return room;
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
   * What can be forgotten to make room: of a few, an expired counter or else the one nearest to its full quota. Never an
   * exhausted or blocked one: a flood of fresh keys must not wash out a limit that is doing its work
   * (GHSA-2vgg-9h6w-m454).
   */
  function nearestToFull(time: number, pinned: readonly string[]): string | undefined {
    let fullest: string | undefined;
    let most = 0;
    for (let i = 0; i < SAMPLE; i++) {
      const next = nextEntry();
      if (next === undefined) break;
      const [key, entry] = next;
      if (pinned.includes(key)) continue;
      if (isDead(entry, time)) return key;
      const { held, rule } = entry;
      const share = advance(held, rule, 0, time).answer.remaining / Math.max(1, rule.limit, rule.burst);
      if (share > most) [fullest, most] = [key, share];
    }
    return fullest;
  }

  /** When only exhausted counters are left, all new keys of a rule share one. */
  function shared(rule: Charge['rule']): Entry {
    if (overflow.size === 0) onFull();
    let entry = overflow.get(rule.path);
    if (entry === undefined)
      overflow.set(rule.path, (entry = { held: NOTHING, rule, home: overflow, evicts: undefined }));
    return entry;
  }
}

function isDead({ held, rule }: Entry, time: number): boolean {
  return lifeMsOf(held, rule, time) <= 0;
}
