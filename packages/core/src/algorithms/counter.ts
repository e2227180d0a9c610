import type { Answer, Rule } from './algorithm.ts';
import { ALGORITHMS } from './algorithms.ts';

/** Bars a partition until a time. Its length tells a block from one whose clock was moved. */
export interface Block {
  readonly until: number;
  readonly ms: number;
}

/** What a key holds: the state of its algorithm, and a block. Either may be missing. */
export interface Held {
  readonly state: object | undefined;
  readonly block: Block | undefined;
}

export const NOTHING: Held = { state: undefined, block: undefined };

/** One step of a counter. */
export interface Advance {
  readonly answer: Answer;
  readonly at: number;
  /** What to store; undefined when what is stored stands. */
  readonly held: Held | undefined;
}

/** The step of a limit's algorithm, under the block that its partition may be in. Twin of counter.lua. */
export function advance(held: Held, rule: Rule, cost: number, now: number): Advance {
  const { block, moved } = liveBlock(held, now);
  const algorithm = ALGORITHMS[rule.algorithm];
  const { answer, state, at } = algorithm.step(held.state, rule, cost, now);
  if (block !== undefined) {
    // Nothing is charged under a block; only a clock that was moved is written down.
    const { answer: read, state: anchored } = algorithm.step(held.state, rule, 0, now);
    const written = moved || anchored !== undefined ? { state: anchored ?? held.state, block } : undefined;
    return { answer: blockedAnswer(read, answer, block.until - now), at, held: written };
  }
  if (rule.blockMs > 0 && cost > 0 && answer.reason === 'exhausted') {
    const fresh: Block = { until: now + rule.blockMs, ms: rule.blockMs };
    const written = { state: state ?? held.state, block: fresh };
    return { answer: blockedAnswer(answer, answer, rule.blockMs), at, held: written };
  }
  return { answer, at, held: state === undefined ? undefined : { state, block: undefined } };
}

/** A block that still bars. One that ends later than it can was made before the clock was moved back: it starts anew. */
export function liveBlock({ block }: Held, now: number): { block: Block | undefined; moved: boolean } {
  if (block === undefined || block.until <= now) return { block: undefined, moved: false };
  const moved = block.until - now > block.ms;
  return { block: moved ? { until: now + block.ms, ms: block.ms } : block, moved };
}

/** How long what is held can still matter; 0 or less when it is dead. */
export function lifeMsOf({ state, block }: Held, rule: Rule, now: number): number {
  const stateMs = state === undefined ? 0 : ALGORITHMS[rule.algorithm].lifeMs(state, rule, now);
  return Math.max(stateMs, block === undefined ? 0 : block.until - now);
}

/** Times are those of the limit, or of the block where that lasts longer. */
function blockedAnswer(read: Answer, asked: Answer, leftMs: number): Answer {
  return {
    allowed: false,
    reason: asked.reason === 'never' ? 'never' : 'blocked',
    remaining: 0,
    nextMs: read.remaining > 0 ? leftMs : Math.max(leftMs, read.nextMs),
    resetMs: Math.max(leftMs, read.resetMs),
    retryAfterMs: Math.max(leftMs, asked.retryAfterMs),
    delayMs: 0,
  };
}
