import type { Answer } from '../algorithms/algorithm.ts';
import type { MaybePromise } from '../maybe.ts';
import type { Charge } from '../policy/charge.ts';
import type { WarningListener } from '../warnings.ts';
import type { Deadline } from './deadline.ts';

/** What one request asks of a store: its limits, all charged or none. */
export type TakeRequest = readonly Charge[];

/** What became of one request: an answer per limit, and the time at which each was charged. */
export interface Taken {
  readonly answers: readonly Answer[];
  /** In ms of the store's clock. A refund gives them back. */
  readonly at: readonly number[];
}

/**
 * A change of one counter other than by a request. `refund` gives back units that were charged at `at`; `debit` charges
 * units whether they fit or not; `reset` forgets the counter; `block` bars its partition for `units` ms; `unblock` ends that.
 */
export interface Adjustment {
  readonly kind: 'refund' | 'debit' | 'reset' | 'block' | 'unblock';
  readonly charge: Charge;
  readonly units: number;
  readonly at: number;
}

/**
 * Decides limits atomically somewhere. Every operation answers at once where it can. A store that waits must look at the
 * deadline before it sends anything: what is sent after the caller was answered counts twice.
 */
export interface Store {
  readonly name: string;
  /** How long an operation may take, ms, where the limiter does not say. */
  readonly deadlineMs: number;
  /** Decides requests in their order. */
  take(requests: readonly TakeRequest[], deadline: Deadline): MaybePromise<readonly Taken[]>;
  /** What `take` would answer for one request, charging nothing; limits that would pass report their quota as it is. */
  peek(request: TakeRequest, deadline: Deadline): MaybePromise<readonly Answer[]>;
  /** Makes all changes in one step; tells of each whether it changed anything. */
  adjust(adjustments: readonly Adjustment[], deadline: Deadline): MaybePromise<readonly boolean[]>;
  /** Tells the listener what an operator should know; each limiter on the store listens. */
  listen?(listener: WarningListener): void;
  /** Resolves when the store can decide; rejects when it cannot be reached. */
  ready?(): Promise<void>;
  /** Ends what the store itself started. Idempotent. */
  close?(): Promise<void>;
}
