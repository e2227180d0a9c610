// What becomes of requests while Redis is not there: Tollgate and its peers, each with the settings that its documentation
// names for a store that fails. `pnpm bench:outage [seconds]`: how long each outage is, 90 by default, because the defaults
// of ioredis 6 give up after about 76 s.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRedis } from './redis.mjs';

const LIMITERS = ['Tollgate', 'express-rate-limit + rate-limit-redis', '@fastify/rate-limit', 'rate-limiter-flexible'];
const CALLERS = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'];
const OUTAGE_MS = Number(process.argv[2] ?? 90) * 1000;
/** 20 requests a second. */
const EVERY_MS = 50;
/** How long a server may take to start. */
const START_MS = 10_000;
/** How long what is still unanswered when Redis is back is waited for. */
const PATIENCE_MS = 15_000;

/**
 * @typedef {import('./redis.mjs').BenchRedis} BenchRedis
 * @typedef {{ name: string; atBoot: boolean; begin: (redis: BenchRedis) => Promise<() => unknown> }} Scenario what begins it answers how to end it
 * @typedef {{ status: number; tookMs: number }} Answer
 */

/** @param {BenchRedis} redis */
async function kill(redis) {
  await redis.kill();
  return () => redis.restart();
}

/** @type {Scenario[]} */
const SCENARIOS = [
  { name: 'absent at boot', atBoot: true, begin: kill },
  { name: 'SIGKILL', atBoot: false, begin: kill },
  {
    name: 'SIGSTOP',
    atBoot: false,
    async begin(redis) {
      redis.pause();
      return () => redis.resume();
    },
  },
  {
    name: 'accepts, never answers',
    atBoot: true,
    async begin(redis) {
      await redis.kill();
      const stop = await startSilence(redis.port);
      return async () => {
        await stop();
        await redis.restart();
      };
    },
  },
];

const requests = OUTAGE_MS / EVERY_MS;
console.log(
  `${requests} requests of ${CALLERS.length} callers in ${OUTAGE_MS / 1000} s without Redis; 100 an hour for each`,
);
const rows = [];
for (const scenario of SCENARIOS) {
  for (const row of await Promise.all(LIMITERS.map((limiter) => run(limiter, scenario)))) rows.push(row);
}
console.log(toTable(rows));

/**
 * @param {string} limiter
 * @param {Scenario} scenario
 */
async function run(limiter, { name, atBoot, begin }) {
  const redis = await startRedis();
  let end = atBoot ? await begin(redis) : undefined;
  const server = fork(new URL('outage-server.mjs', import.meta.url), [limiter, String(redis.port), ...CALLERS], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let printed = '';
  for (const stream of [server.stdout, server.stderr]) stream?.on('data', (chunk) => (printed += String(chunk)));
  const agent = new Agent({ keepAlive: true });
  try {
    const port = await Promise.race([
      once(server, 'message').then((sent) => String(sent[0])),
      once(server, 'exit').then(() => undefined),
      sleep(START_MS),
    ]);
    if (port === undefined) throw new Error(`${limiter} did not start:\n${printed}`);
    const ask = (/** @type {string} */ ip, path = '/') => request(`http://127.0.0.1:${port}${path}`, agent, ip);
    if (!atBoot) {
      // The first requests of a process are slow, and are another caller's.
      for (let i = 0; i < 20; i++) await ask('198.51.100.1');
      end = await begin(redis);
    }
    /** @type {Answer[]} */
    const answers = [];
    const waiting = new Set();
    for (let i = 0; i < requests; i++) {
      const sent = ask(CALLERS[i % CALLERS.length] ?? '').then(({ status, tookMs }) => {
        answers.push({ status, tookMs });
        waiting.delete(sent);
      });
      waiting.add(sent);
      await sleep(EVERY_MS);
    }
    const during = [...answers];
    const unanswered = waiting.size;
    await end?.();
    await Promise.race([Promise.all(waiting), sleep(PATIENCE_MS, undefined, { ref: false })]);
    // It may have to notice first that Redis is back.
    await sleep(PATIENCE_MS / 2);
    const { text } = await Promise.race([ask('198.51.100.2', '/counted'), sleep(PATIENCE_MS, { text: '' })]);
    const counted = text === '' ? Number.NaN : Number(text);
    const slowestMs = Math.max(0, ...answers.map(({ tookMs }) => tookMs));
    return {
      'Redis': name,
      'limiter': limiter,
      'slowest answer': waiting.size > 0 ? `none for ${waiting.size}` : toTime(slowestMs),
      'let through': during.filter(({ status }) => status === 200).length,
      'denied': during.filter(({ status }) => status === 429).length,
      'errors': answers.filter(({ status }) => status !== 200 && status !== 429).length,
      'unanswered when Redis is back': unanswered,
      'lines printed': printed.split('\n').length - 1,
      'counted though answered without Redis': Number.isNaN(counted) ? 'not known' : Math.max(0, counted - unanswered),
    };
  } finally {
    server.kill('SIGKILL');
    agent.destroy();
    redis.resume();
    await redis.stop();
  }
}

/**
 * @param {string} url
 * @param {Agent} agent
 * @param {string} ip
 * @returns {Promise<Answer & { text: string }>} status 0 where the connection broke
 */
function request(url, agent, ip) {
  const sentAt = performance.now();
  return new Promise((resolve) => {
    const finish = (/** @type {number} */ status, text = '') =>
      resolve({ status, text, tookMs: performance.now() - sentAt });
    get(url, { agent, headers: { 'x-forwarded-for': ip } }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => (text += String(chunk)));
      response.once('end', () => finish(response.statusCode ?? 0, text));
    }).once('error', () => finish(0));
  });
}

/** @param {number} port */
async function startSilence(port) {
  /** @type {Set<import('node:net').Socket>} */
  const sockets = new Set();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)));
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return async () => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
}

/** @param {number} ms */
function toTime(ms) {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** @param {Record<string, string | number>[]} table */
function toTable(table) {
  const names = Object.keys(table[0] ?? {});
  const toLine = (/** @type {(string | number | undefined)[]} */ cells) => `| ${cells.join(' | ')} |`;
  return [
    toLine(names),
    toLine(names.map(() => '---')),
    ...table.map((row) => toLine(names.map((name) => row[name]))),
  ].join('\n');
}
