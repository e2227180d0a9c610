import { type ChildProcess, spawn } from 'node:child_process';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'vite';
import { type RUNTIMES, runtimes } from './runtimes.ts';

export interface ServedApp {
  readonly url: string;
  /** What the runtime printed. */
  output(): string;
  close(): Promise<void>;
}

/** Bundles the application and lets the runtime serve it on a free port. */
export async function serveApp(name: (typeof RUNTIMES)[number]): Promise<ServedApp> {
  const folder = await mkdtemp(join(tmpdir(), `tollgate-${name}-`));
  await bundle(name, folder);
  await copyFile(join(import.meta.dirname, 'apps/workerd.capnp'), join(folder, 'workerd.capnp'));
  const { binary, args } = runtimes[name];
  const child = spawn(binary() as string, args(folder), {
    cwd: folder,
    env: { HOME: folder, PATH: process.env['PATH'], NO_COLOR: '1', DENO_NO_UPDATE_CHECK: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => printed.push(String(chunk)));
  const output = (): string => printed.join('');
  const close = async (): Promise<void> => {
    await end(child);
    await rm(folder, { recursive: true });
  };
  try {
    return { url: `http://127.0.0.1:${await portOf(child, output)}`, output, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function bundle(name: string, outDir: string): Promise<void> {
  await build({
    configFile: false,
    root: import.meta.dirname,
    logLevel: 'warn',
    resolve: { conditions: ['@tollgate/source', 'workerd', 'worker', 'import', 'default'] },
    build: {
      outDir,
      emptyOutDir: false,
      minify: false,
      target: 'es2022',
      lib: { entry: join('apps', `${name}.ts`), formats: ['es'], fileName: () => `${name}.mjs` },
    },
  });
}

/** Each of them says where it listens, in words of its own, and Deno on stderr. */
function portOf(child: ChildProcess, output: () => string): Promise<number> {
  return new Promise((resolve, reject) => {
    const read = (): void => {
      const [, port] = /(?:127\.0\.0\.1:|"port":)(\d+)/.exec(output()) ?? [];
      if (port !== undefined) resolve(Number(port));
    };
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', read);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`It ended with ${code}.\n${output()}`)));
  });
}

function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
  });
}
