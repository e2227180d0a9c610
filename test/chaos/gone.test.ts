// Redis is not there, or says nothing.
import { beforeAll, describe, it } from 'vitest';
import { startSilence } from './network.ts';
import { warmUp } from './stage.ts';
import { expectSurvived, type Trouble } from './trouble.ts';

let silence: { stop(): Promise<void> };
let flapping: NodeJS.Timeout;

const TROUBLES: readonly Trouble[] = [
  {
    name: 'absent at boot, appears later',
    http: true,
    atBoot: true,
    forgets: true,
    begin: ({ redis }) => redis.kill(),
    end: ({ redis }) => redis.restart(),
  },
  {
    name: 'SIGKILL, restarted',
    http: true,
    forgets: true,
    begin: ({ redis }) => redis.kill(),
    end: ({ redis }) => redis.restart(),
  },
  {
    name: 'SIGSTOP for 10 s, SIGCONT',
    prints: true,
    lastsMs: 10_000,
    begin: ({ redis }) => redis.pause(),
    end: ({ redis }) => redis.resume(),
  },
  {
    name: 'SIGSTOP at boot, SIGCONT',
    http: true,
    atBoot: true,
    begin: ({ redis }) => redis.pause(),
    end: ({ redis }) => redis.resume(),
  },
  {
    name: 'accepts connections, never answers',
    http: true,
    atBoot: true,
    forgets: true,
    async begin({ redis }) {
      await redis.kill();
      silence = await startSilence(redis.port);
    },
    async end({ redis }) {
      await silence.stop();
      await redis.restart();
    },
  },
  {
    name: 'connection cut after execution',
    overNetwork: true,
    begin: ({ network }) => network?.cut(true),
    end: ({ network }) => network?.cut(false),
  },
  {
    name: 'connection lost, nobody is told',
    overNetwork: true,
    begin: ({ network }) => network?.loseConnections(),
    end: () => {},
  },
  {
    name: '80 ms of latency, deadline 50 ms',
    deadlineMs: 50,
    overNetwork: true,
    begin: ({ network }) => network?.delay(80),
    end: ({ network }) => network?.delay(0),
  },
  {
    name: 'flapping: stopped for 1 s, there for 1 s',
    lastsMs: 7000,
    flips: 12,
    ghosts: 150,
    begin({ redis }) {
      let isUp = true;
      flapping = setInterval(() => {
        isUp = !isUp;
        if (isUp) redis.resume();
        else redis.pause();
      }, 1000);
    },
    end({ redis }) {
      clearInterval(flapping);
      redis.resume();
    },
  },
];

beforeAll(warmUp);

describe.concurrent('a Redis that is not there', () => {
  it.each(TROUBLES)('$name', (trouble) => expectSurvived(trouble));
});
