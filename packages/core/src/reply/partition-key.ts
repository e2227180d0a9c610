import { hexToBytes } from '@noble/hashes/utils.js';
import { serializeItem } from 'structured-headers';
import { memoize } from '../identity/memoize.ts';

/** Enough to tell apart all clients of a service, in 16 characters. */
const BYTES = 12;
const CACHE_SIZE = 10_000;

/**
 * Names a partition to the client as a structured-field byte sequence. Not as in Redis: whoever sees one must not know
 * the other.
 * @param hash keyed with a secret, or an address could be found by trial
 */
export function createPartitionKey(hash: (value: string) => string): (partition: string) => string {
  return memoize(
    (partition) => serializeItem([hexToBytes(hash(`pk ${partition}`)).slice(0, BYTES), new Map()]),
    CACHE_SIZE,
  );
}
