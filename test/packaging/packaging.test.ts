// The packages as their users get them: packed, installed by plain npm outside the workspace, and used from ES modules,
// CommonJS, Jest and TypeScript.
import { execFile } from 'node:child_process';
import { cp, copyFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

// npm must not read the settings of the pnpm that started the tests.
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^npm_|^(VITEST|NODE_ENV|TEST)$/i.test(name)),
);

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-consumer-'));
  await cp(join(import.meta.dirname, 'consumer'), folder, { recursive: true });
  await copyFile(join(folder, 'consumer.ts'), join(folder, 'consumer.mts'));
  await inConsumer('npm', 'install', '--no-audit', '--no-fund', '--prefer-offline', ...(await tarballs()));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Those that `pnpm test` packed and checked, or fresh ones of what was built last. */
async function tarballs(): Promise<string[]> {
  let packed = process.env['TOLLGATE_TARBALLS'];
  if (packed === undefined) {
    packed = join(folder, 'tarballs');
    await run('pnpm', ['--recursive', '--filter=./packages/*', 'pack', '--pack-destination', packed], { cwd: root });
  }
  const files = (await readdir(packed)).filter((name) => name.endsWith('.tgz'));
  expect(files).toHaveLength(5);
  return files.map((name) => join(packed, name));
}

/** Runs a program in the consumer's folder; what it printed is the message when it fails. */
async function inConsumer(program: string, ...args: string[]): Promise<void> {
  await run(program, args, { cwd: folder, env }).catch((error: Error & { stdout: string; stderr: string }) => {
    throw new Error(`${program} ${args.join(' ')}\n${error.stdout}\n${error.stderr}`);
  });
}

it('runs from ES modules', () => inConsumer('node', 'esm.mjs'));

it('runs from CommonJS', () => inConsumer('node', 'cjs.cjs'));

it('runs under Jest without any setting', () => inConsumer('npx', 'jest'));

it('is one limiter when both copies are loaded', () => inConsumer('node', 'both.mjs'));

it.each(['core', 'hono'])('loads nothing of Node and no Redis client: %s', async (name) => {
  const imports = await importsOf(join(folder, 'node_modules/@tollgate', name, 'dist/index.mjs'));
  expect(imports.filter((specifier) => /^node:|redis/.test(specifier))).toEqual([]);
});

/** What a built module imports from outside its package, through all its chunks. */
async function importsOf(file: string, seen = new Set<string>()): Promise<string[]> {
  if (seen.has(file)) return [];
  seen.add(file);
  const source = await readFile(file, 'utf8');
  const specifiers = [...source.matchAll(/^(?:import|export)\b[^'"]*["']([^'"]+)["'];?$/gm)].map(
    ([, name = '']) => name,
  );
  const found = specifiers.map(async (name) =>
    name.startsWith('.') ? importsOf(join(file, '..', name), seen) : [name],
  );
  return (await Promise.all(found)).flat();
}

const strict = '--noEmit --strict --skipLibCheck --experimentalDecorators --esModuleInterop --target es2022'.split(' ');

it.each([
  { from: 'CommonJS, node16', file: 'consumer.ts', options: ['--module', 'node16'] },
  { from: 'an ES module, node16', file: 'consumer.mts', options: ['--module', 'node16'] },
  { from: 'an ES module, nodenext', file: 'consumer.mts', options: ['--module', 'nodenext'] },
  { from: 'a bundler', file: 'consumer.ts', options: ['--module', 'preserve', '--moduleResolution', 'bundler'] },
  { from: 'CommonJS, node10', file: 'consumer.ts', options: ['--module', 'commonjs', '--moduleResolution', 'node10'] },
])('has types for $from', ({ file, options }) => inConsumer('npx', 'tsc', ...strict, ...options, file));
