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
  const breaker = createBreaker(undefined, (state) => {
    // It answers again: what it has not answered until now it never will, because the connection that asked is gone.
    if (state === 'closed') [pending, epoch] = [0, epoch + 1];
    observer.moved(state);
  });
  /** Calls that the store has not answered, in time or not. */
  let pending = 0;
  let epoch = 0;

  return function attempt<T, A>(
    ask: (deadline: Deadline) => MaybePromise<T>,
    read: (answer: T) => A,
    failed: (error: unknown) => A,
  ): MaybePromise<A> {
    if (pending >= MAX_PENDING) return failed(new StoreError('unavailable', `${MAX_PENDING} calls are unanswered.`));
    const call = breaker.enter();
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
      const asked = epoch;
      const settled = (): void => void (asked === epoch && pending--);
      return deadline.race(answer, settled).then(succeed).catch(fail);
    } catch (error) {
      return fail(error);
    }
  };
}
