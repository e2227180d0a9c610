// A redis-server of the benchmark's own, on a free loopback port, without persistence.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';

/**
 * @typedef {object} BenchRedis
 * @property {number} port
 * @property {Redis} client
 * @property {() => void} pause SIGSTOP
 * @property {() => void} resume SIGCONT
 * @property {() => Promise<void>} kill SIGKILL
 * @property {() => Promise<void>} restart on the same port, empty
 * @property {() => Promise<void>} stop
 */

/** @returns {Promise<BenchRedis>} */
export async function startRedis() {
  const dir = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
  const port = await freePort();
  const binary = process.env['TOLLGATE_REDIS_SERVER'] || 'redis-server';
  const options = ['--port', String(port), '--save', '', '--bind', '127.0.0.1', '--dir', dir];
  const launch = () => spawn(binary, options, { stdio: 'ignore' });
  let server = launch();
  // A benchmark that fails must not leave a server behind.
  const orphan = () => void server.kill('SIGKILL');
  process.once('exit', orphan);
  const client = new Redis(port, '127.0.0.1', { retryStrategy: () => 50, maxRetriesPerRequest: null });
  // Until the server listens, each attempt to connect fails.
  client.on('error', () => {});
  const ready = async () => void (await client.ping());
  const kill = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    server.kill('SIGKILL');
    await once(server, 'exit');
  };
  await ready();
  return {
    port,
    client,
    pause: () => void server.kill('SIGSTOP'),
    resume: () => void server.kill('SIGCONT'),
    kill,
    async restart() {
      await kill();
      server = launch();
      await ready();
    },
    async stop() {
      client.disconnect();
      process.off('exit', orphan);
      await kill();
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
