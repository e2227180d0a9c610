import type { Answer } from '../algorithms/algorithm.ts';
import type { MaybePromise } from '../maybe.ts';
import type { Charge } from '../policy/charge.ts';
import type { Deadline } from './deadline.ts';

/** What one request asks of a store: its limits, all charged or none. */
export type TakeRequest = readonly Charge[];

/** Decides limits atomically somewhere. */
export interface Store {
  readonly name: string;
  /** How long a decision may take, ms, where the limiter does not say. */
  readonly deadlineMs: number;
  /**
   * Decides requests in their order, one answer per limit. Answers at once where it can. A store that waits must look
   * at the deadline before it sends anything: what is sent after the caller was answered counts twice.
   */
  take(requests: readonly TakeRequest[], deadline: Deadline): MaybePromise<readonly (readonly Answer[])[]>;
  /** Resolves when the store can decide; rejects when it cannot be reached. */
  ready?(): Promise<void>;
  /** Ends what the store itself started. Idempotent. */
  close?(): Promise<void>;
}
