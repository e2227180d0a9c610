// A client that the application made, with the defaults of ioredis: an offline queue, twenty attempts, and commands that
// are sent again. The limiter keeps its word all the same; what such a client sends later counts.
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { beforeAll, describe, it } from 'vitest';
import { warmUp } from './stage.ts';
import { expectSurvived, type Trouble } from './trouble.ts';

const VERSIONS = {
  'ioredis 5.11.1': (url: string) => new Redis5(url).on('error', () => {}),
  'ioredis 6.0.0': (url: string) => new Redis(url).on('error', () => {}),
};

const TROUBLES: readonly Trouble[] = Object.entries(VERSIONS).flatMap(([version, connect]): Trouble[] => {
  return [
    {
      name: `${version}: absent at boot, appears later`,
      connect,
      atBoot: true,
      forgets: true,
      begin: ({ redis }) => redis.kill(),
      end: ({ redis }) => redis.restart(),
    },
    {
      name: `${version}: SIGKILL, restarted`,
      connect,
      forgets: true,
      begin: ({ redis }) => redis.kill(),
      end: ({ redis }) => redis.restart(),
    },
    {
      name: `${version}: SIGSTOP for 3 s, SIGCONT`,
      connect,
      lastsMs: 3000,
      begin: ({ redis }) => redis.pause(),
      end: ({ redis }) => redis.resume(),
    },
    {
      name: `${version}: connection cut after execution`,
      connect,
      overNetwork: true,
      begin: ({ network }) => network?.cut(true),
      end: ({ network }) => network?.cut(false),
    },
  ];
});

beforeAll(warmUp);

describe.concurrent('a client of the application', () => {
  it.each(TROUBLES)('$name', (trouble) => expectSurvived(trouble));
});
