// What callers present to be recognised by is seen by nobody who can read Redis, MONITOR it, or read the logs.
import { monitorRedis, startRedis, type TestRedis } from '../../packages/core/src/testing/index.ts';
import { type ChildProcess, fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

const PASSWORD = 'redis-password-8f2b';
const ENV = {
  PEPPER: 'pepper-of-the-house-77',
  SHORT_PEPPER: 'short-pepper',
  BAD_URL: 'amqp://operator:broker-password@127.0.0.1/0',
};
/** A word of each kind of secret; those that are names are sent in several spellings. */
const SECRETS = {
  key: 'sk_live_51Hq8Zt',
  bearer: 'ghp_16C7e42F292c6912E7',
  jwt: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJncmFjZSJ9.c2lnbmF0dXJl',
  user: 'grace.hopper@example.com',
  username: 'ada@example.com',
  password: 'difference-engine',
  agent: 'internal-scanner/4.2 (secret project)',
  cookie: 'session-91c2',
  garbage: 'not-an-address-at-all',
  query: 'reset-token-5d1f',
};

let redis: TestRedis;
let child: ChildProcess;
let url: string;
let output = '';

beforeAll(async () => {
  redis = await startRedis();
  await redis.client.acl('SETUSER', 'limiter', 'on', `>${PASSWORD}`, '~*', '&*', '+@all');
  child = fork(join(import.meta.dirname, 'keeper.mjs'), {
    env: { ...ENV, PATH: process.env['PATH'], REDIS_URL: `redis://limiter:${PASSWORD}@127.0.0.1:${redis.port}` },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  url = `http://127.0.0.1:${port}`;
});
afterAll(async () => {
  child.kill('SIGKILL');
  await redis.stop();
});

/** One of each: every link of the chain, every way in which one fails, and enough of them to be denied. */
async function useEverything(): Promise<number[]> {
  const { key, bearer, jwt, user, username, password, agent, cookie, garbage, query } = SECRETS;
  const callers: Record<string, string>[] = [
    { 'x-api-key': key },
    { authorization: `Bearer ${bearer}` },
    { authorization: `Bearer ${jwt}` },
    { authorization: `Basic ${btoa(`${username}:${password}`)}` },
    { 'x-user': user },
    { 'x-user': user, 'x-identify': 'fails' },
    { 'x-user': user, 'x-identify': 'odd' },
    { 'x-forwarded-for': garbage },
    { 'x-forwarded-for': `${garbage}, 203.0.113.7` },
    { forwarded: `for=${garbage}` },
  ];
  const statuses: number[] = [];
  for (const caller of callers) {
    const headers = { 'user-agent': agent, 'cookie': `sid=${cookie}`, 'content-type': 'application/json', ...caller };
    statuses.push((await fetch(`${url}/?token=${query}`, { headers })).status);
    for (const email of [username, ` ${username.toUpperCase()}`]) {
      const body = JSON.stringify({ email, password });
      statuses.push((await fetch(`${url}/login?token=${query}`, { method: 'POST', headers, body })).status);
    }
    const body = JSON.stringify({ query });
    statuses.push((await fetch(`${url}/search`, { method: 'POST', headers, body })).status);
  }
  return statuses;
}

/** Everything that has to stay a secret: as it was sent, and as anybody can compute it who guesses it. */
function forbidden(): string[] {
  const words = [...Object.values(SECRETS), ...Object.values(ENV), PASSWORD, 'broker-password', btoa(SECRETS.username)];
  const hashes = words.map((word) => createHash('sha256').update(word).digest('hex').slice(0, 16));
  return [...words, ...words.map((word) => word.toUpperCase()), ...hashes];
}

function expectNoSecret(text: string): void {
  for (const secret of forbidden()) expect(text).not.toContain(secret);
}

it('shows no secret to who watches Redis, or reads what is in it', async () => {
  const monitor = await monitorRedis(redis);
  const statuses = await useEverything();
  expect(new Set(statuses)).toEqual(new Set([200, 401, 429]));
  const commands = await monitor.seen();
  monitor.stop();
  expect(commands.filter((command) => /^eval(sha)? /i.test(command)).length).toBeGreaterThan(20);
  expectNoSecret(commands.join('\n'));
  const keys = await redis.client.keys('*');
  expect(keys.length).toBeGreaterThan(10);
  expectNoSecret(keys.join('\n'));
  for (const key of keys) expectNoSecret((await redis.client.getBuffer(key))?.toString('latin1') ?? '');
});

it('prints none, whatever goes wrong', async () => {
  await redis.kill();
  const statuses = await useEverything();
  expect(statuses).not.toContain(500);
  child.send('end');
  await once(child, 'exit');
  expect(child.exitCode).toBe(0);
  // It had something to say about all of this.
  for (const code of ['resolver-failed', 'identity-unusable', 'client-address-unknown', 'store-degraded'])
    expect(output).toContain(`docs/errors.md#${code}`);
  expect(output.match(/ConfigError: /g)).toHaveLength(2);
  expectNoSecret(output);
});
