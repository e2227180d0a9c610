import { startRedis, type TestRedis } from '../../packages/core/src/testing/index.ts';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const TAKER = join(import.meta.dirname, 'taker.mjs');
const PROCESSES = 4;
const CALLS = 500;
const LIMIT = 100;

interface Took {
  readonly source: string;
  readonly allowed: boolean;
  readonly remaining: number;
}

let redis: TestRedis;
beforeAll(async () => void (redis = await startRedis()));
afterAll(() => redis.stop());

/** Starts the processes, lets all of them go at once, and collects what became of each call. */
async function race(algorithm: string, prefix: string): Promise<Took[]> {
  const children = Array.from({ length: PROCESSES }, () => fork(TAKER, [redis.url, prefix, algorithm, String(LIMIT)]));
  try {
    await Promise.all(children.map((child) => once(child, 'message')));
    const results = children.map((child) => once(child, 'message') as Promise<[Took[]]>);
    for (const child of children) child.send('go');
    const took = (await Promise.all(results)).flatMap(([one]) => one);
    await Promise.all(children.map((child) => exitOf(child)));
    return took;
  } finally {
    for (const child of children) child.kill('SIGKILL');
  }
}

async function exitOf(child: ChildProcess): Promise<void> {
  if (child.exitCode === null) await once(child, 'exit');
  expect(child.exitCode).toBe(0);
}

describe.each(['fixed-window', 'sliding-window', 'sliding-log', 'token-bucket', 'leaky-bucket'])(
  `${PROCESSES} processes, ${CALLS} concurrent calls each, one Redis: %s`,
  (algorithm) => {
    it.each(['', 'while Redis keeps forgetting the script'])(`admits exactly ${LIMIT} %s`, async (flushing) => {
      const flush = flushing === '' ? undefined : setInterval(() => void redis.client.script('FLUSH'), 50);
      const took = await race(algorithm, `${algorithm}${flushing === '' ? '' : '-flushed'}`);
      clearInterval(flush);
      expect(took).toHaveLength(PROCESSES * CALLS);
      expect(took.filter(({ source }) => source !== 'store')).toEqual([]);
      const admitted = took.filter(({ allowed }) => allowed);
      // Each unit was given out once: no duplicates, no gaps.
      const remaining = admitted.map((one) => one.remaining).toSorted((a, b) => b - a);
      expect(remaining).toEqual(Array.from({ length: LIMIT }, (_, i) => LIMIT - 1 - i));
    });
  },
);
