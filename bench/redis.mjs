// A redis-server of the benchmark's own, on a free loopback port, without persistence.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';

/** @returns {Promise<{ client: Redis; stop: () => Promise<void> }>} */
export async function startRedis() {
  const dir = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
  const port = await freePort();
  const binary = process.env['TOLLGATE_REDIS_SERVER'] || 'redis-server';
  const options = ['--port', String(port), '--save', '', '--bind', '127.0.0.1', '--dir', dir];
  const server = spawn(binary, options, { stdio: 'ignore' });
  // A benchmark that fails must not leave a server behind.
  process.once('exit', () => server.kill('SIGKILL'));
  const client = new Redis(port, '127.0.0.1', { retryStrategy: () => 50 });
  // Until the server listens, each attempt to connect fails.
  client.on('error', () => {});
  await new Promise((resolve) => client.once('ready', () => resolve(undefined)));
  return {
    client,
    async stop() {
      client.disconnect();
      server.kill('SIGKILL');
      await once(server, 'exit');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** @returns {Promise<number>} */
async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
