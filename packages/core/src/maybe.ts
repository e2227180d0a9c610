/** A value now, or later. With the memory store and plain resolvers a decision needs no promise at all. */
export type MaybePromise<T> = T | PromiseLike<T>;

export function isPromise<T>(value: MaybePromise<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

/**
 * Goes on with a value as soon as it is there: at once when it is there already. (Not named `then`: a module that
 * exports a `then` is taken for a promise when it is imported dynamically.)
 */
export function andThen<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return isPromise(value) ? value.then(next) : next(value);
}

/** Resolves each item in turn, and stays synchronous as long as every result is. */
export function mapInOrder<T, U>(items: readonly T[], resolve: (item: T) => MaybePromise<U>): MaybePromise<U[]> {
  const results: U[] = [];
  for (let i = 0; i < items.length; i++) {
    const result = resolve(items[i] as T);
    if (isPromise(result)) return finish(items, resolve, results, i, result);
    results.push(result);
  }
  return results;
}

async function finish<T, U>(
  items: readonly T[],
  resolve: (item: T) => MaybePromise<U>,
  results: U[],
  at: number,
  pending: PromiseLike<U>,
): Promise<U[]> {
  results.push(await pending);
  // oxlint-disable-next-line no-await-in-loop -- in turn is the point: resolvers may depend on each other's effects
  for (let i = at + 1; i < items.length; i++) results.push(await resolve(items[i] as T));
  return results;
}
