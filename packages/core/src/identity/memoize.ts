import QuickLRU from 'quick-lru';

/** Beyond this length a value is not worth keeping: many long ones would be a way to fill the memory. */
const MAX_KEY_LENGTH = 1024;

/** Remembers the last results of a pure function of a string, at most `2 × maxSize` of them. */
export function memoize<T>(compute: (key: string) => T, maxSize: number): (key: string) => T {
  const cache = new QuickLRU<string, T>({ maxSize });
  return function memoized(key) {
    const known = cache.get(key);
    if (known !== undefined) return known;
    const value = compute(key);
    if (key.length <= MAX_KEY_LENGTH) cache.set(key, value);
    return value;
  };
}
