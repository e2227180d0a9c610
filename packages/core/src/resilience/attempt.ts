import { StoreError } from '../errors.ts';
import { isPromise, type MaybePromise } from '../maybe.ts';
import { Deadline } from '../stores/deadline.ts';
import { createBreaker } from './breaker.ts';
import { createRoom, type Place } from './room.ts';
import type { StoreObserver } from './store-observer.ts';

/** Asks a store within the deadline, if it is to be asked. Whatever goes wrong on the way to an answer is a failure of the store. */
export type Attempt = <T, A>(
  ask: (deadline: Deadline) => MaybePromise<T>,
  read: (answer: T) => A,
  failed: (error: unknown) => A,
) => MaybePromise<A>;

/** Calls that the store may owe an answer. */
const ROOM = 1000;

export function createAttempt(deadlineMs: number, observer: StoreObserver): Attempt {
  const room = createRoom(ROOM);
  const breaker = createBreaker(undefined, (state) => {
    // It answers again: what it has not answered until now it never will, because the connection that asked is gone.
    if (state === 'closed') room.clear();
    observer.moved(state);
  });

  return function attempt<T, A>(
    ask: (deadline: Deadline) => MaybePromise<T>,
    read: (answer: T) => A,
    failed: (error: unknown) => A,
  ): MaybePromise<A> {
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
      const place = room.take();
      const answer =
        place === undefined ? room.wait().then((later) => askIn(later, ask, deadline)) : askIn(place, ask, deadline);
      return isPromise(answer) ? deadline.race(answer).then(succeed).catch(fail) : succeed(answer);
    } catch (error) {
      return fail(error);
    }
  };

  /** The place is the store's until it answers, in time or not. */
  function askIn<T>(place: Place, ask: (deadline: Deadline) => MaybePromise<T>, deadline: Deadline): MaybePromise<T> {
    const leave = (): void => room.leave(place);
    let isAsked = false;
    try {
      if (deadline.expired) throw new StoreError('deadline', 'There was no room for this call in time.');
      const answer = ask(deadline);
      isAsked = isPromise(answer);
      if (isPromise(answer)) answer.then(leave, leave);
      return answer;
    } finally {
      if (!isAsked) leave();
    }
  }
}
