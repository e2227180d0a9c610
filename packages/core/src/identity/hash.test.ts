import { createHash, createHmac } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createHasher } from './hash.ts';

afterEach(() => vi.restoreAllMocks());

describe('createHasher', () => {
  it('is SHA-256 to 128 bits, the same with and without native code', () => {
    const expected = createHash('sha256').update('héllo').digest('hex').slice(0, 32);
    expect(createHasher()('héllo')).toBe(expected);
    vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined);
    expect(createHasher()('héllo')).toBe(expected);
  });

  it('is HMAC-SHA-256 under a pepper', () => {
    const hash = createHasher('0123456789abcdef');
    expect(hash('key')).toBe(createHmac('sha256', '0123456789abcdef').update('key').digest('hex').slice(0, 32));
    expect(hash('key')).toBe(hash('key'));
    expect(hash('key')).not.toBe(createHasher()('key'));
  });

  it('takes any string', () => {
    const hash = createHasher();
    for (const value of ['', '\uD800', 'x'.repeat(100_000), '__proto__']) expect(hash(value)).toMatch(/^[0-9a-f]{32}$/);
  });
});
