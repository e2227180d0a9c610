import { createLimiter, type Limiter, memoryStore } from '@tollgate/express';
import { redisStore } from '@tollgate/core/redis';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApp } from './app.ts';
import { createLiveView } from './live.ts';

const { PORT = '3000', REDIS_URL, TRUST_PROXY } = process.env;
const view = createLiveView(process.stdout);
const limiter = makeLimiter();
const server = createServer(makeApp());

server.once('error', (error: NodeJS.ErrnoException) => {
  fail(error.code === 'EADDRINUSE' ? `Port ${PORT} is taken: choose another with PORT=3001.` : error.message);
});
// On loopback only: the demo is for whoever runs it.
server.listen(toPort(PORT), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(`${usage(`http://127.0.0.1:${port}`)}\n`);
  limiter.ready().catch(() => view.note('The store is not reachable yet: each process grants a share of its own.'));
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop());

function makeLimiter(): Limiter {
  try {
    const store = REDIS_URL ? redisStore(REDIS_URL, { prefix: 'demo' }) : memoryStore();
    return createLimiter({ store, onDecision: view.onDecision, onWarning: view.onWarning });
  } catch (error) {
    return fail(`REDIS_URL: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function makeApp(): ReturnType<typeof createApp> {
  try {
    return createApp({ limiter, trustProxy: TRUST_PROXY || undefined, onError: (error) => view.note(String(error)) });
  } catch (error) {
    return fail(`TRUST_PROXY: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function toPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  return fail(`PORT must be a number from 0 (any free port) to 65535, not "${text}".`);
}

function usage(url: string): string {
  const json = '-H content-type:application/json -d';
  return `Tollgate demo on ${url}, counting in ${REDIS_URL ? redisName(REDIS_URL) : 'memory'}

  one request        curl -i ${url}/
  more than 1000     curl -s -o /dev/null -w '%{http_code}\\n' -H x-api-key:loop '${url}/?n=[1-1100]' | sort | uniq -c
  6 logins, 5 pass   curl -w ' %{http_code}\\n' '${url}/login?n=[1-6]' ${json} '{"email":"ada@example.com","password":"guess"}'
  7 searches, 6 pass curl -w ' %{http_code}\\n' '${url}/search?n=[1-7]' ${json} '{"query":"desk"}'
  load               npx -y autocannon -c 10 -a 1500 ${url}/

Each client's decisions, as they happen (Ctrl-C ends):`;
}

/** Where it is, without the password and user that the URL may hold. */
function redisName(url: string): string {
  return URL.canParse(url) ? `Redis at ${new URL(url).host}` : 'Redis';
}

async function stop(): Promise<void> {
  view.stop();
  // Clients that keep their connection busy get a second to finish.
  setTimeout(() => server.closeAllConnections(), 1000).unref();
  await new Promise((resolve) => server.close(resolve));
  await limiter.close();
}

function fail(sentence: string): never {
  console.error(sentence);
  process.exit(1);
}
