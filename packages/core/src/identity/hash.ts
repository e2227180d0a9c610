import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { memoize } from './memoize.ts';

/** 128 bits of a digest in hex. */
const DIGEST_LENGTH = 32;
const CACHE_SIZE = 10_000;

interface NodeCrypto {
  readonly hash?: (algorithm: string, data: string, encoding: 'hex') => string;
}

/**
 * Turns secrets and long values into short tokens: HMAC-SHA-256 under a pepper, plain SHA-256 where none is set (enough
 * for random API keys, reversible by trial for addresses and names). Synchronous everywhere; WebCrypto would be 60×
 * slower on Node and make every key asynchronous. The last results are cached, because the same few values come again.
 */
export function createHasher(pepper?: string): (value: string) => string {
  const key = pepper === undefined ? undefined : utf8ToBytes(pepper);
  let digest: ((value: string) => string) | undefined;
  return memoize((value) => {
    digest ??= key === undefined ? plainDigest() : (text) => bytesToHex(hmac(sha256, key, utf8ToBytes(text)));
    return digest(value).slice(0, DIGEST_LENGTH);
  }, CACHE_SIZE);
}

/** Native one-shot hashing where the runtime has it (six times faster), without a static `node:` import. */
function plainDigest(): (value: string) => string {
  const host = globalThis as { process?: { getBuiltinModule?: (id: string) => NodeCrypto | undefined } };
  const native = host.process?.getBuiltinModule?.('node:crypto');
  const hash = native?.hash;
  if (typeof hash === 'function') return (text) => hash('sha256', text, 'hex');
  return (text) => bytesToHex(sha256(utf8ToBytes(text)));
}
