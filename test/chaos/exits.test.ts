// A limiter keeps no process alive: one without traffic ends by itself, whatever is the matter with Redis.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLimiter } from '@tollgate/core';
import { redisStore } from '@tollgate/core/redis';
import { startRedis, type TestRedis } from '@tollgate/core/testing';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSilence } from './network.ts';

/** Node runs no TypeScript in all versions that are supported, so the process is one file, made from the sources. */
let directory: string;
let program: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tollgate-idle-'));
  await build({
    configFile: false,
    logLevel: 'error',
    resolve: { conditions: ['@tollgate/source'] },
    ssr: { noExternal: true, resolve: { conditions: ['@tollgate/source', 'node', 'import'] } },
    build: {
      ssr: join(import.meta.dirname, 'idle.ts'),
      outDir: directory,
      rolldownOptions: { output: { entryFileNames: 'idle.mjs' } },
    },
  });
  program = join(directory, 'idle.mjs');
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** How a process that does these steps ends, once it has nothing left to do. */
async function endOf(url: string, ...steps: string[]): Promise<string> {
  const child = spawn(process.execPath, [program, url, ...steps], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const patience = setTimeout(() => child.kill('SIGKILL'), 8000);
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) =>
    child.once('close', (...end) => resolve(end)),
  );
  clearTimeout(patience);
  return signal === 'SIGKILL' ? `still there: ${output}` : `${output.trim()}, code ${code}`;
}

describe.concurrent('a process with a limiter and no traffic ends', () => {
  const STEPS = [[], ['ready', 'check'], ['ready', 'close', 'close'], ['close', 'ready', 'check']];

  async function withRedis(
    trouble: (redis: TestRedis) => Promise<unknown>,
    test: (redis: TestRedis) => Promise<void>,
  ): Promise<void> {
    const redis = await startRedis();
    await trouble(redis);
    try {
      await test(redis);
    } finally {
      redis.resume();
      await redis.stop();
    }
  }

  it.each([
    { state: 'is there', trouble: async () => {} },
    { state: 'is down', trouble: (redis: TestRedis) => redis.kill() },
    { state: 'is stopped', trouble: (redis: TestRedis) => Promise.resolve(redis.pause()) },
    {
      state: 'asks for a password',
      trouble: (redis: TestRedis) => redis.client.config('SET', 'requirepass', 'secret'),
    },
  ])('when Redis $state', ({ trouble }) =>
    withRedis(trouble, async ({ url }) => {
      const ends = await Promise.all(STEPS.map(async (steps) => [steps, await endOf(url, ...steps)]));
      expect(ends).toEqual(STEPS.map((steps) => [steps, 'idle, code 0']));
    }),
  );
});

describe('ready()', () => {
  it('rejects in time when Redis accepts the connection and says nothing, and close() may come twice', async () => {
    const redis = await startRedis();
    await redis.kill();
    const silence = await startSilence(redis.port);
    const limiter = createLimiter({ store: redisStore(redis.url), onWarning: () => {} });
    const from = performance.now();
    await expect(limiter.ready()).rejects.toThrow(/not connected|did not answer/);
    // It says 5 s.
    expect(performance.now() - from).toBeLessThan(5500);
    await Promise.all([limiter.close(), limiter.close()]);
    await limiter.close();
    await silence.stop();
    await redis.stop();
  });
});
