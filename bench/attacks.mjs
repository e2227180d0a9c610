// Ways of getting around a limit by being somebody else with each request, tried over HTTP on the Express example.
import { createLimiter, memoryStore } from '@tollgate/core';
import { createApp } from '@tollgate/example-express/app';
import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';

/** Of one identity: 60 units a minute, and a search costs 10. */
const SEARCHES = 6;
/** Of one address, or of one site of IPv6. */
const BACKSTOP = 10 * SEARCHES;
const LOGINS = 20;
const CLIENT = '203.0.113.7';
const SPELLINGS = [
  CLIENT,
  `${CLIENT}:443`,
  `::ffff:${CLIENT}`,
  `::FFFF:${CLIENT}`,
  '::ffff:cb00:7107',
  '::FFFF:CB00:7107',
  `0:0:0:0:0:ffff:${CLIENT}`,
  '0000:0000:0000:0000:0000:ffff:cb00:7107',
  `[::ffff:${CLIENT}]`,
  `[::ffff:${CLIENT}]:443`,
];

/**
 * @typedef {object} Attack
 * @property {string} name what is fresh with each request
 * @property {number} bound how many may pass within one window
 * @property {(i: number) => Record<string, string>} [headers] of the request with this number
 * @property {(i: number) => string} [username] makes it a login with this name, and not a search
 */

/** @type {readonly Attack[]} */
export const ATTACKS = [
  { name: 'API key', bound: BACKSTOP, headers: (i) => ({ 'x-api-key': `key-${i}` }) },
  { name: 'bearer token', bound: BACKSTOP, headers: (i) => ({ authorization: `Bearer token-${i}` }) },
  { name: 'user agent', bound: BACKSTOP, headers: (i) => ({ 'user-agent': `agent-${i}` }) },
  { name: 'IPv6 address in one /64', bound: SEARCHES, headers: (i) => from(`2001:db8:1:2::${i.toString(16)}`) },
  { name: '/64 in one /48', bound: BACKSTOP, headers: (i) => from(`2001:db8:1:${i.toString(16)}::1`) },
  { name: 'source port', bound: SEARCHES, headers: (i) => from(`${CLIENT}:${1024 + i}`) },
  { name: 'left-hand X-Forwarded-For', bound: SEARCHES, headers: (i) => from(`6.6.${i >> 8}.${i & 255}, ${CLIENT}`) },
  { name: 'one of ten spellings of an address', bound: SEARCHES, headers: (i) => from(SPELLINGS[i % 10] ?? '') },
  { name: 'address that is none', bound: SEARCHES, headers: (i) => from(`garbage-${i}`) },
  {
    name: 'address that is none, and API key',
    bound: SEARCHES,
    headers: (i) => ({ ...from(`garbage-${i}`), 'x-api-key': `key-${i}` }),
  },
  {
    name: 'key, agent, port and left-hand entry',
    bound: BACKSTOP,
    headers: (i) => ({
      ...from(`6.6.${i >> 8}.${i & 255}, ${CLIENT}:${1024 + i}`),
      'x-api-key': `key-${i}`,
      'user-agent': `agent-${i}`,
    }),
  },
  { name: 'username at the login', bound: LOGINS, username: (i) => `user-${i}@example.com` },
];

/**
 * @param {Attack} attack
 * @param {number} requests
 * @returns {Promise<{ before: number; after: number }>} how many passed a naive limiter, and Tollgate
 */
export async function run(attack, requests) {
  // The time stands still: what passes is what may pass within one window, however long the attack takes.
  const limiter = createLimiter({ store: memoryStore({ now: () => 0 }), onWarning: () => {} });
  return {
    before: await passing(naive(attack.bound === LOGINS ? LOGINS : SEARCHES), attack, requests),
    after: await passing(createServer(createApp({ limiter, trustProxy: 'loopback' })), attack, requests),
  };
}

/**
 * The comparison, and no part of Tollgate: a limiter as it is often written by hand.
 * @param {number} limit
 */
function naive(limit) {
  /** @type {Map<unknown, number>} */
  const counts = new Map();
  return createServer(({ headers, socket }, res) => {
    const address = String(headers['x-forwarded-for'] ?? socket.remoteAddress).split(',')[0];
    const key = headers['x-api-key'] ?? `${address} ${headers['user-agent']}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    res.statusCode = (counts.get(key) ?? 0) > limit ? 429 : 200;
    res.end();
  });
}

/**
 * Sends all requests to a server of its own, a few at a time, and counts those that were not denied.
 * @param {import('node:http').Server} server
 * @param {Attack} attack
 * @param {number} requests
 */
async function passing(server, attack, requests) {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const agent = new Agent({ keepAlive: true });
  let sent = 0;
  let passed = 0;
  const client = async () => {
    while (sent < requests) {
      const status = await send(sent++);
      if (status !== 429) passed++;
      if (status !== 429 && status !== 200 && status !== 401) throw new Error(`${attack.name}: answered ${status}`);
    }
  };

  /**
   * @param {number} i
   * @returns {Promise<number | undefined>} the status
   */
  function send(i) {
    const { headers, username } = attack;
    const body = JSON.stringify(username === undefined ? { query: 'desk' } : { email: username(i), password: 'guess' });
    const options = {
      port,
      agent,
      host: '127.0.0.1',
      method: 'POST',
      path: username === undefined ? '/search' : '/login',
      headers: {
        'content-type': 'application/json',
        'content-length': body.length,
        'user-agent': 'attacker',
        'x-forwarded-for': CLIENT,
        ...headers?.(i),
      },
    };
    return new Promise((resolve, reject) => {
      const sending = request(options, (res) => void res.resume().once('end', () => resolve(res.statusCode)));
      sending.once('error', reject).end(body);
    });
  }

  try {
    await Promise.all(Array.from({ length: 32 }, client));
  } finally {
    agent.destroy();
    server.close();
  }
  return passed;
}

/** @param {string} entries */
function from(entries) {
  return { 'x-forwarded-for': entries };
}
