import { describe, expect, it, vi } from 'vitest';
import { isProduction, replicaHint } from './environment.ts';

describe('what the runtime tells of the process', () => {
  const before = globalThis.process;

  function told(env: object | undefined): [boolean, string | undefined] {
    vi.stubGlobal('process', env === undefined ? undefined : { env });
    try {
      return [isProduction(), replicaHint()];
    } finally {
      // Vitest itself looks there.
      vi.stubGlobal('process', before);
    }
  }

  it('is read', () => {
    expect(told({ NODE_ENV: 'production', DYNO: 'web.1' })).toEqual([true, 'DYNO']);
    expect(told({ NODE_ENV: 'test', WEB_CONCURRENCY: '1' })).toEqual([false, undefined]);
    expect(told({ WEB_CONCURRENCY: '2' })).toEqual([false, 'WEB_CONCURRENCY']);
  });

  it('is nothing on Workers, where there is no process', () => {
    expect(told(undefined)).toEqual([false, undefined]);
  });

  it('is nothing on Deno, where reading it has to be allowed', () => {
    const get = (): never => {
      throw new Error('Requires env access');
    };
    expect(told(new Proxy({}, { get }))).toEqual([false, undefined]);
  });
});
