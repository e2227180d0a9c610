/**
 * What the algorithms mean, said as naively as possible, for property tests against the real ones. There are no closed
 * forms here: one exact `usage`, one inequality, and every wait is found by trying later moments.
 */

export type ModelAlgorithm = 'sliding-window' | 'token-bucket' | 'leaky-bucket' | 'fixed-window' | 'sliding-log';

export interface ModelRule {
  algorithm: ModelAlgorithm;
  limit: number;
  windowMs: number;
  burst: number;
  maxDelayMs: number | undefined;
  blockMs: number;
}

export interface ModelAnswer {
  allowed: boolean;
  reason: 'exhausted' | 'blocked' | 'never' | undefined;
  remaining: number;
  nextMs: number;
  resetMs: number;
  /** Infinity for never */
  retryAfterMs: number;
  delayMs: number;
}

export interface ModelCharge {
  key: string;
  rule: ModelRule;
  cost: number;
}

/** Of both windows; a fixed one gives `prev` no weight. */
interface WindowState {
  kind: 'window';
  index: number;
  prev: number;
  cur: number;
}

/** Of both buckets: `used` units of 1/W at `t`, less `rate` of them each ms. */
interface MeterState {
  kind: 'meter';
  used: bigint;
  t: number;
  rate: number;
}

/** Oldest first: an entry is written at the effective time, which is at least that of the newest. */
interface LogState {
  kind: 'log';
  entries: LogEntry[];
}

interface LogEntry {
  time: number;
  units: number;
}

/** States are never changed, only replaced, so a copy of the map is a snapshot of everything. */
type State = WindowState | MeterState | LogState;
type States = Map<string, State>;

interface Block {
  until: number;
  ms: number;
}
type Blocks = Map<string, Block>;

/** What a step works on: the state as the clock rule leaves it, and the effective time, never before the state's own. */
interface View {
  state: State | undefined;
  at: number;
}

type Room = Pick<ModelAnswer, 'remaining' | 'nextMs' | 'resetMs'>;

const maxLogUnits = 8_388_607;
const maxMeter = 2n ** 52n;

export class Model {
  #states: States = new Map();
  readonly #blocks: Blocks = new Map();

  take(charges: ModelCharge[], now: number): { answers: ModelAnswer[]; at: number[] } {
    const before = new Map(this.#states);
    const taken = this.#take(charges, now);
    for (const { key } of charges) if (this.#states.get(key) !== before.get(key)) this.#forgetDeadBlock(key, now);
    return taken;
  }

  /** A block that has ended goes with the next change of its counter; until then a clock set back would revive it. */
  #forgetDeadBlock(key: string, now: number): void {
    if (blockLeft(this.#blocks, key, now) === 0) this.#blocks.delete(key);
  }

  #take(charges: ModelCharge[], now: number): { answers: ModelAnswer[]; at: number[] } {
    const charged = new Map(this.#states);
    // New and re-anchored blocks stay whatever becomes of the request, so these are not a copy.
    const { answers, at } = evaluate(charges, now, charged, this.#blocks);
    if (answers.every((answer) => answer.allowed)) {
      this.#states = charged;
      return { answers, at };
    }
    return { answers: uncharged(charges, answers, now, this.#states), at };
  }

  peek(charges: ModelCharge[], now: number): ModelAnswer[] {
    const { answers } = evaluate(charges, now, new Map(this.#states), new Map(this.#blocks));
    return uncharged(charges, answers, now, new Map(this.#states));
  }

  refund({ key, rule }: ModelCharge, units: number, at: number, now: number): boolean {
    const state = this.#states.get(key);
    if (state === undefined || units <= 0) return false;
    const given =
      state.kind === 'window'
        ? this.#refundWindow(key, rule, state, units, at, now)
        : state.kind === 'meter'
          ? this.#refundMeter(key, rule, state, units, at, now)
          : this.#refundLog(key, rule, state, units, at, now);
    if (given) this.#forgetDeadBlock(key, now);
    return given;
  }

  #refundWindow(key: string, rule: ModelRule, state: WindowState, units: number, at: number, now: number): boolean {
    const charged = Math.floor(at / rule.windowMs);
    const lastIndex = rule.algorithm === 'sliding-window' ? charged + 1 : charged;
    if (Math.floor(now / rule.windowMs) > lastIndex || state.index < charged || state.index > lastIndex) return false;
    const counter = state.index === charged ? 'cur' : 'prev';
    const back = Math.min(units, state[counter]);
    if (back === 0) return false;
    this.#states.set(key, { ...state, [counter]: state[counter] - back });
    return true;
  }

  #refundMeter(key: string, rule: ModelRule, stored: MeterState, units: number, at: number, now: number): boolean {
    const view = anchor(stored, rule, now);
    const W = BigInt(rule.windowMs);
    const used = usage(view, rule);
    // What of the charge has drained away by itself is not given back: that would bank it for later.
    const left = BigInt(units) * W - BigInt(Math.max(0, view.at - at)) * BigInt(stored.rate);
    const back = smaller(left, used);
    if (back <= 0n) return false;
    this.#states.set(key, { kind: 'meter', used: used - back, t: view.at, rate: stored.rate });
    return true;
  }

  #refundLog(key: string, rule: ModelRule, state: LogState, units: number, at: number, now: number): boolean {
    if (now - at >= rule.windowMs) return false;
    let left = units;
    const entries = state.entries.map((entry) => {
      if (entry.time !== at) return entry;
      const back = Math.min(left, entry.units);
      left -= back;
      return { time: at, units: entry.units - back };
    });
    if (left === units) return false;
    this.#states.set(key, { kind: 'log', entries: entries.filter((entry) => entry.units > 0) });
    return true;
  }

  debit({ key, rule }: ModelCharge, units: number, now: number): boolean {
    if (units <= 0) return false;
    const view = look(this.#states.get(key), rule, now);
    const state = add(view, rule, units);
    if (state?.kind === 'meter') {
      // Debt is cut off at what a state can hold, but never makes less of what is there.
      const before = usage(view, rule);
      const used = smaller(state.used, maxMeter);
      remember(this.#states, key, { state: { ...state, used: used > before ? used : before }, at: view.at });
    } else {
      remember(this.#states, key, { state, at: view.at });
    }
    this.#forgetDeadBlock(key, now);
    return true;
  }

  reset(key: string): boolean {
    const had = this.#states.has(key) || this.#blocks.has(key);
    this.#states.delete(key);
    this.#blocks.delete(key);
    return had;
  }

  block(key: string, ms: number, now: number): boolean {
    this.#blocks.set(key, { until: now + ms, ms });
    return true;
  }

  unblock(key: string, now: number): boolean {
    const live = blockLeft(this.#blocks, key, now) > 0;
    if (live) this.#blocks.delete(key);
    return live;
  }
}

/** Answers the charges in order and writes what each leaves behind into `states` and `blocks`. */
function evaluate(
  charges: ModelCharge[],
  now: number,
  states: States,
  blocks: Blocks,
): { answers: ModelAnswer[]; at: number[] } {
  const answers: ModelAnswer[] = [];
  const at: number[] = [];
  for (const { key, rule, cost } of charges) {
    let view = lookAndRemember(states, key, rule, now);
    const verdict = judge(view, rule, cost, now);
    let leftMs = blockLeft(blocks, key, now);
    if (leftMs === 0 && verdict.reason === 'exhausted' && cost > 0 && rule.blockMs > 0) {
      leftMs = rule.blockMs;
      blocks.set(key, { until: now + leftMs, ms: leftMs });
    }
    if (leftMs === 0 && verdict.allowed && cost > 0) {
      view = { state: add(view, rule, cost), at: view.at };
      remember(states, key, view);
    }
    const answer = { ...verdict, ...room(view, rule, now) };
    answers.push(leftMs > 0 ? blocked(answer, leftMs) : answer);
    at.push(view.at);
  }
  return { answers, at };
}

/** The answers of a request that charged nothing: what fits is told how it stands without the charge. */
function uncharged(charges: ModelCharge[], answers: ModelAnswer[], now: number, states: States): ModelAnswer[] {
  return charges.flatMap(({ key, rule }, index) => {
    const view = lookAndRemember(states, key, rule, now);
    const answer = answers[index];
    if (answer === undefined) return [];
    return [answer.allowed ? { ...answer, ...room(view, rule, now) } : answer];
  });
}

/** Whether a request passes, if there were no block. */
function judge(view: View, rule: ModelRule, cost: number, now: number): Omit<ModelAnswer, keyof Room> {
  if (isNever(rule, cost)) return { allowed: false, reason: 'never', retryAfterMs: Infinity, delayMs: 0 };
  if (passes(view, rule, cost, now)) {
    return { allowed: true, reason: undefined, retryAfterMs: 0, delayMs: delay(view, rule, now) };
  }
  const retryAfterMs = first((ms) => passes(view, rule, cost, now, ms));
  return { allowed: false, reason: 'exhausted', retryAfterMs, delayMs: 0 };
}

function blocked(answer: ModelAnswer, leftMs: number): ModelAnswer {
  return {
    allowed: false,
    reason: answer.reason === 'never' ? 'never' : 'blocked',
    remaining: 0,
    // What is free below the block is free when the block ends; otherwise both have to end.
    nextMs: Math.max(leftMs, answer.remaining === 0 ? answer.nextMs : 0),
    resetMs: Math.max(leftMs, answer.resetMs),
    retryAfterMs: Math.max(leftMs, answer.retryAfterMs),
    delayMs: 0,
  };
}

function room(view: View, rule: ModelRule, now: number): Room {
  const aheadMs = view.at - now;
  const used = usage(view, rule);
  const remaining = first((units) => !fits(used, rule, units + 1, aheadMs));
  const full = isNever(rule, remaining + 1);
  return {
    remaining,
    nextMs: full ? 0 : first((ms) => passes(view, rule, remaining + 1, now, ms)),
    resetMs: used === 0n ? 0 : first((ms) => usage(view, rule, ms) === 0n) + aheadMs,
  };
}

function delay(view: View, rule: ModelRule, now: number): number {
  return turn(usage(view, rule), rule, view.at - now);
}

/** How long a request waits behind what is used. Nothing drains at a limit of 0: what passes there needs no slot. */
function turn(used: bigint, rule: ModelRule, aheadMs: number): number {
  const { limit } = rule;
  if (!isShaping(rule) || limit === 0 || used === 0n) return 0;
  return first((ms) => BigInt(ms) * BigInt(limit) >= used) + aheadMs;
}

/** Whether it passes `laterMs` after now. Until the effective time is reached, nothing drains. */
function passes(view: View, rule: ModelRule, cost: number, now: number, laterMs = 0): boolean {
  const aheadMs = Math.max(0, view.at - now - laterMs);
  return fits(usage(view, rule, Math.max(0, laterMs - (view.at - now))), rule, cost, aheadMs);
}

/** The one rule of every algorithm: what is used and what is asked for fit together, in units of 1/W. */
function fits(used: bigint, rule: ModelRule, cost: number, aheadMs: number): boolean {
  if (isNever(rule, cost)) return false;
  const W = BigInt(rule.windowMs);
  if (used + BigInt(cost) * W > BigInt(capacity(rule)) * W) return false;
  return !isShaping(rule) || turn(used, rule, aheadMs) <= (rule.maxDelayMs ?? 0);
}

function isNever(rule: ModelRule, cost: number): boolean {
  return cost > 0 && (rule.limit === 0 || cost > capacity(rule));
}

function capacity(rule: ModelRule): number {
  return isBucket(rule) ? rule.burst : rule.limit;
}

function isBucket(rule: ModelRule): boolean {
  return rule.algorithm === 'token-bucket' || rule.algorithm === 'leaky-bucket';
}

function isShaping(rule: ModelRule): boolean {
  return rule.algorithm === 'leaky-bucket' && rule.maxDelayMs !== undefined;
}

/** What is used in units of 1/W, `laterMs` after the effective time if nothing more comes. It never grows by waiting. */
function usage({ state, at }: View, rule: ModelRule, laterMs = 0): bigint {
  const { windowMs } = rule;
  if (state === undefined) return 0n;
  if (state.kind === 'log') return BigInt(counted(state, rule, at + laterMs)) * BigInt(windowMs);
  if (state.kind === 'meter') {
    // Debt may take up to 2^53 ms to drain: a moment that far away is no exact double, so the spans are added.
    const left = state.used - (BigInt(at - state.t) + BigInt(laterMs)) * BigInt(state.rate);
    return left > 0n ? left : 0n;
  }
  const { index, prev, cur } = roll(state, rule, at + laterMs);
  const leftMs = (index + 1) * windowMs - (at + laterMs);
  const weight = rule.algorithm === 'sliding-window' ? leftMs : 0;
  return BigInt(prev) * BigInt(weight) + BigInt(cur) * BigInt(windowMs);
}

function roll(state: WindowState | undefined, rule: ModelRule, time: number): WindowState {
  const index = Math.floor(time / rule.windowMs);
  if (state?.index === index) return state;
  return { kind: 'window', index, prev: state?.index === index - 1 ? state.cur : 0, cur: 0 };
}

function counted(state: LogState | undefined, rule: ModelRule, time: number): number {
  const entries = state?.entries ?? [];
  let sum = 0;
  // From the newest on: a full log is summed up for every moment that is tried.
  for (let i = entries.length - 1; i >= 0; i -= 1) {
    const entry = entries[i];
    if (entry === undefined || time - entry.time >= rule.windowMs) break;
    sum += entry.units;
  }
  return sum;
}

/** Adds units whether they fit or not. Only debt is ever large enough to be cut off at what a state can hold. */
function add({ state, at }: View, rule: ModelRule, units: number): State | undefined {
  const W = BigInt(rule.windowMs);
  const most = BigInt(Number.MAX_SAFE_INTEGER);
  if (isBucket(rule)) {
    const used = usage({ state, at }, rule) + BigInt(units) * W;
    const stored = state?.kind === 'meter' ? state.rate : 1;
    return { kind: 'meter', used, t: at, rate: rule.limit > 0 ? rule.limit : stored };
  }
  if (rule.algorithm === 'sliding-log') {
    const log = state?.kind === 'log' ? state : undefined;
    const fitting = Math.min(units, maxLogUnits - counted(log, rule, at));
    if (fitting <= 0) return log;
    // A charge forgets what counts no more: a clock that goes back after it does not bring that back.
    const counting = (log?.entries ?? []).filter((entry) => at - entry.time < rule.windowMs);
    return { kind: 'log', entries: [...counting, { time: at, units: fitting }] };
  }
  const rolled = roll(state?.kind === 'window' ? state : undefined, rule, at);
  return { ...rolled, cur: Number(smaller(BigInt(rolled.cur) + BigInt(units), most / W)) };
}

function lookAndRemember(states: States, key: string, rule: ModelRule, now: number): View {
  const view = look(states.get(key), rule, now);
  remember(states, key, view);
  return view;
}

function remember(states: States, key: string, { state }: View): void {
  if (state !== undefined) states.set(key, state);
}

/** The state after the clock rule, draining at the rate of this rule: a change of the limit works at once. */
function look(stored: State | undefined, rule: ModelRule, now: number): View {
  const view = anchor(stored, rule, now);
  const { state, at } = view;
  const used = usage(view, rule);
  if (state?.kind !== 'meter' || used === 0n || rule.limit === 0 || rule.limit === state.rate) return view;
  return { state: { kind: 'meter', used, t: at, rate: rule.limit }, at };
}

/** The clock rule: a state a little ahead is waited for, one far ahead was written by a clock that has been moved. */
function anchor(state: State | undefined, rule: ModelRule, now: number): View {
  if (state === undefined) return { state, at: now };
  const time = storedTime(state, rule);
  if (time <= now) return { state, at: now };
  if (time - now <= rule.windowMs) return { state, at: time };
  if (state.kind === 'window') return { state: { ...state, index: Math.floor(now / rule.windowMs) }, at: now };
  if (state.kind === 'meter') return { state: { ...state, t: now }, at: now };
  const entries = state.entries.map(({ time: then, units }) => ({ time: then - (time - now), units }));
  return { state: { kind: 'log', entries }, at: now };
}

function storedTime(state: State, rule: ModelRule): number {
  if (state.kind === 'window') return state.index * rule.windowMs;
  if (state.kind === 'meter') return state.t;
  return state.entries.at(-1)?.time ?? -Infinity;
}

/** The ms that a block still lasts, 0 if there is none. One that lasts longer than it ever could is shortened. */
function blockLeft(blocks: Blocks, key: string, now: number): number {
  const block = blocks.get(key);
  if (block === undefined || block.until <= now) return 0;
  if (block.until - now <= block.ms) return block.until - now;
  blocks.set(key, { until: now + block.ms, ms: block.ms });
  return block.ms;
}

/** The smallest whole number from 0 on at which something becomes true that then stays true. */
function first(holds: (n: number) => boolean): number {
  if (holds(0)) return 0;
  let high = 1;
  while (!holds(high)) high *= 2;
  let low = Math.floor(high / 2);
  // Does not hold at low, holds at high.
  while (high - low > 1) {
    const middle = low + Math.floor((high - low) / 2);
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return high;
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
