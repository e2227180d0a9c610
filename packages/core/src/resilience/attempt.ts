import { StoreError } from '../errors.ts';
import { isPromise, type MaybePromise } from '../maybe.ts';
import { Deadline } from '../stores/deadline.ts';
import { createBreaker } from './breaker.ts';
import type { StoreObserver } from './store-observer.ts';

/** Asks a store within the deadline, if it is to be asked. Whatever goes wrong on the way to an answer is a failure of the store. */
export type Attempt = <T, A>(
  ask: (deadline: Deadline) => MaybePromise<T>,
  read: (answer: T) => A,
  failed: (error: unknown) => A,
) => MaybePromise<A>;

/** Calls that the store may owe an answer. What is on its way to a stopped server is counted when it goes on: not more than this. */
const MAX_PENDING = 1000;

export function createAttempt(deadlineMs: number, observer: StoreObserver): Attempt {
  const breaker = createBreaker(undefined, observer.moved);
  /** Calls that the store has not answered, in time or not. */
  let pending = 0;
  const settled = (): void => void pending--;

  return function attempt<T, A>(
    ask: (deadline: Deadline) => MaybePromise<T>,
    read: (answer: T) => A,
    failed: (error: unknown) => A,
  ): MaybePromise<A> {
    const call = pending < MAX_PENDING ? breaker.enter() : undefined;
    if (call === undefined) return failed(new StoreError('unavailable', 'It did not decide just now.'));
    const since = observer.now();
    const succeed = (answer: T): A => {
      const value = read(answer);
      breaker.succeeded(call);
      if (since !== undefined) observer.called(since, 'ok');
      return value;
    };
    const fail = (error: unknown): A => {
      breaker.failed(call, error);
      if (since !== undefined) observer.called(since, error instanceof StoreError ? error.code : 'failed');
      return failed(error);
    };
    try {
      const deadline = new Deadline(deadlineMs);
      const answer = ask(deadline);
      if (!isPromise(answer)) return succeed(answer);
      pending++;
      return deadline.race(answer, settled).then(succeed).catch(fail);
    } catch (error) {
      return fail(error);
    }
  };
}
