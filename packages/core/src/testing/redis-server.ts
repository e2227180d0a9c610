import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';

/** A real redis-server of one test file. */
export interface TestRedis {
  readonly url: string;
  readonly port: number;
  /** A plain client for looking at what the limiter wrote. */
  readonly client: Redis;
  /** SIGSTOP: the connection stays and nothing is answered. */
  pause(): void;
  /** SIGCONT. */
  resume(): void;
  /** SIGKILL, as a crash. */
  kill(): Promise<void>;
  /** Starts again on the same port, empty. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a redis-server on a free loopback port, without persistence.
 * `TOLLGATE_REDIS_SERVER` names the binary; default `redis-server` on the PATH.
 * @throws Error with the remedies when the binary cannot be started
 */
export async function startRedis(): Promise<TestRedis> {
  const dir = await mkdtemp(join(tmpdir(), 'tollgate-redis-'));
  const launched = await launchAnywhere(dir);
  const { port } = launched;
  let { child } = launched;
  const client = new Redis(port, '127.0.0.1', { retryStrategy: () => 50, maxRetriesPerRequest: null });
  // A test that stops the server makes these expected.
  client.on('error', () => {});
  const gone = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await exited;
  };

  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    client,
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    kill: gone,
    async restart() {
      await gone();
      child = await launch(port, dir);
    },
    async stop() {
      client.disconnect();
      await gone();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Another process may take a free port before Redis does, so a few are tried. */
async function launchAnywhere(dir: string, attempts = 3): Promise<{ child: ChildProcess; port: number }> {
  const port = await freePort();
  try {
    return { child: await launch(port, dir), port };
  } catch (error) {
    if (attempts === 1 || !String(error).includes('Address already in use')) throw error;
    return launchAnywhere(dir, attempts - 1);
  }
}

async function launch(port: number, dir: string): Promise<ChildProcess> {
  const binary = process.env['TOLLGATE_REDIS_SERVER'] || 'redis-server';
  const options = ['--save', '', '--appendonly', 'no', '--bind', '127.0.0.1', '--enable-debug-command', 'yes'];
  const child = spawn(binary, ['--port', String(port), '--dir', dir, ...options], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // A test run that is interrupted must not leave a server behind.
  const orphan = (): void => void child.kill('SIGKILL');
  process.once('exit', orphan);
  child.once('exit', () => process.off('exit', orphan));
  await new Promise<void>((resolve, reject) => {
    let output = '';
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      if (output.includes('Ready to accept connections')) resolve();
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('error', () =>
      reject(new Error(`Cannot start ${binary}: install redis-server, or name one in TOLLGATE_REDIS_SERVER.`)),
    );
    child.once('exit', (code) => reject(new Error(`${binary} ended with code ${code}:\n${output}`)));
  });
  return child;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
