// Redis refuses until somebody mends something: told of once, and never hammered.
import { beforeAll, describe, expect, it } from 'vitest';
import type { Stage } from './stage.ts';
import { warmUp } from './stage.ts';
import { expectSurvived, type Trouble } from './trouble.ts';

type World = Pick<Stage, 'redis'>;

const asUser = (url: string): string => url.replace('redis://', 'redis://tollgate:right@');
const addUser = ({ redis }: World): unknown =>
  redis.client.call('ACL', 'SETUSER', 'tollgate', 'on', '>right', '~*', '+@all');
const change =
  (...rules: string[]) =>
  ({ redis }: World): unknown =>
    redis.client.call('ACL', 'SETUSER', 'tollgate', ...rules);
const dropConnections = ({ redis }: World): unknown =>
  redis.client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');

/** What a server may be asked for by one limiter, a second: attempts to connect, and commands of the handshakes. */
const CONNECTIONS_PER_S = 3;
const COMMANDS_PER_S = 30;

async function neverHammered({ redis }: World): Promise<() => Promise<void>> {
  const statistic = async (): Promise<{ at: number; connections: number; commands: number }> => {
    const info = await redis.client.info('stats');
    const read = (name: string): number => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1]);
    return {
      at: performance.now(),
      connections: read('total_connections_received'),
      commands: read('total_commands_processed'),
    };
  };
  const before = await statistic();
  return async () => {
    const after = await statistic();
    const seconds = (after.at - before.at) / 1000;
    expect(after.connections - before.connections).toBeLessThanOrEqual(CONNECTIONS_PER_S * seconds);
    expect(after.commands - before.commands).toBeLessThanOrEqual(COMMANDS_PER_S * seconds);
  };
}

const MISCONFIGURED = { misconfigured: true, lastsMs: 3000, look: neverHammered } as const;

const TROUBLES: readonly Trouble[] = [
  {
    ...MISCONFIGURED,
    name: 'NOAUTH: a password is asked for',
    http: true,
    async begin(world) {
      await world.redis.client.config('SET', 'requirepass', 'secret');
      await dropConnections(world);
    },
    end: ({ redis }) => redis.client.config('SET', 'requirepass', ''),
  },
  {
    ...MISCONFIGURED,
    name: 'WRONGPASS: the password has changed',
    connect: asUser,
    before: addUser,
    async begin(world) {
      await change('resetpass', '>wrong')(world);
      await dropConnections(world);
    },
    end: change('>right'),
  },
  {
    ...MISCONFIGURED,
    name: 'WRONGPASS at boot',
    connect: asUser,
    atBoot: true,
    async begin(world) {
      await addUser(world);
      await change('resetpass', '>wrong')(world);
    },
    end: change('>right'),
  },
  {
    ...MISCONFIGURED,
    name: 'NOPERM: no right to the commands',
    connect: asUser,
    before: addUser,
    begin: change('-evalsha', '-eval'),
    end: change('+evalsha', '+eval'),
  },
  {
    ...MISCONFIGURED,
    name: 'NOPERM: no right to the keys',
    connect: asUser,
    before: addUser,
    begin: change('resetkeys', '~other:*'),
    end: change('~*'),
  },
  {
    ...MISCONFIGURED,
    name: 'NOPERM: no right to what the script does',
    connect: asUser,
    before: addUser,
    begin: change('-set'),
    end: change('+set'),
  },
];

beforeAll(warmUp);

describe.concurrent('a Redis that has to be mended', () => {
  it.each(TROUBLES)('$name', (trouble) => expectSurvived(trouble));
});
