import { spawn } from 'node:child_process';
import { join } from 'node:path';

const SERVER = join(import.meta.dirname, '../../examples/express/dist/server.mjs');

/** The built demo, as a process of its own on a free loopback port. */
export interface Demo {
  readonly url: string;
  /** Everything that it printed so far. */
  output(): string;
  /** Ends it as an orchestrator would. @throws Error when it does not end by itself with exit code 0 */
  stop(): Promise<void>;
}

export async function startDemo(env: Readonly<Record<string, string>> = {}): Promise<Demo> {
  const child = spawn(process.execPath, [SERVER], {
    env: { PATH: process.env['PATH'], PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // A test run that is interrupted must not leave a server behind.
  const orphan = (): void => void child.kill('SIGKILL');
  process.once('exit', orphan);
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  void exited.then(() => process.off('exit', orphan));

  let printed = '';
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      printed += chunk.toString();
      const started = /Tollgate demo on (http:\S+),/.exec(printed)?.[1];
      if (started !== undefined) resolve(started);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void exited.then((code) => reject(new Error(`The demo ended with code ${code}.\n${printed}`)));
  });

  return {
    url,
    output: () => printed,
    async stop() {
      child.kill('SIGTERM');
      const patience = setTimeout(orphan, 5000);
      const code = await exited;
      clearTimeout(patience);
      if (code !== 0) throw new Error(`The demo ended with code ${code}.\n${printed}`);
    },
  };
}
