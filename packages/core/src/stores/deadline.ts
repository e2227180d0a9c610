import { StoreError } from '../errors.ts';

/** Node's, which runs when the sockets were read; elsewhere there is none. */
const { setImmediate: afterReading = (run: () => void): unknown => setTimeout(run) } = globalThis as {
  setImmediate?: (run: () => void) => unknown;
};

/**
 * The time that a decision may take. No client option bounds it in every case: a stopped server that still accepts
 * connections, a cluster without seeds and a written command each hang some client, so the limiter keeps its own.
 */
export class Deadline {
  readonly ms: number;
  /** True once the caller was answered without the store. */
  expired = false;

  constructor(ms: number) {
    this.ms = ms;
  }

  /** @throws StoreError `deadline` when the promise is not settled in time; a later result is ignored. */
  race<T>(promise: PromiseLike<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const expire = (): void => {
        this.expired = true;
        reject(new StoreError('deadline', `The store did not answer within ${this.ms} ms.`));
      };
      // When an event loop was held up, it comes to its timers before it comes to what has arrived meanwhile. An answer
      // that is there is no failure of the store.
      const timer = setTimeout(() => afterReading(expire), this.ms);
      promise.then(
        (value) => {
          clearTimeout(timer);
          resolve(value);
        },
        (error: unknown) => {
          clearTimeout(timer);
          reject(error);
        },
      );
    });
  }
}
