// `pnpm test`: everything that has to hold, in the order in which a mistake is cheapest to see. Stops at the first stage
// that fails. The last line is always the count: one for each stage, and one for each test of the last stage.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findRedisServer, REDIS_MISSING } from './redis-server.mjs';

const work = mkdtempSync(join(tmpdir(), 'tollgate-test-'));
const tarballs = join(work, 'tarballs');
const report = join(work, 'vitest.json');
const env = {
  ...process.env,
  TOLLGATE_TARBALLS: tarballs,
  // Checked once, by the `pnpm test` that started this.
  npm_config_verify_deps_before_run: 'false',
};

/** @type {[name: string, run: () => Promise<void> | void][]} */
const stages = [
  ['redis-server', useRedisServer],
  ['embedded Lua is fresh', () => pnpm('embed', '--check')],
  ['lint', () => pnpm('lint')],
  ['format', () => pnpm('format:check')],
  ['types', () => pnpm('typecheck')],
  ['build', () => pnpm('build')],
  ['pack', () => pnpm('--recursive', '--filter=./packages/*', 'pack', '--pack-destination', tarballs)],
  ['publint', () => eachTarball((file) => pnpm('exec', 'publint', '--strict', file))],
  ['are the types wrong?', () => eachTarball((file) => pnpm('exec', 'attw', '--format=ascii', file))],
];

const counts = { passed: 0, failed: 0, skipped: 0 };
try {
  for (const [name, run] of stages) {
    await run();
    counts.passed++;
    console.log(`✓ ${name}`);
  }
  await runTests();
} catch (error) {
  counts.failed++;
  console.error(`\n✗ ${error instanceof Error ? error.message : String(error)}`);
} finally {
  rmSync(work, { recursive: true, force: true });
}
if (counts.failed > 0) process.exitCode = 1;
console.log(`${counts.passed} passed, ${counts.failed} failed${counts.skipped ? `, ${counts.skipped} skipped` : ''}`);

function useRedisServer() {
  const command = findRedisServer();
  if (!command) throw new Error(REDIS_MISSING);
  Object.assign(env, { TOLLGATE_REDIS_SERVER: command });
}

/** @param {(file: string) => Promise<void>} check */
async function eachTarball(check) {
  for (const name of readdirSync(tarballs)) await check(join(tarballs, name));
}

async function runTests() {
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const failure = await pnpm('exec', 'vitest', 'run', ...reporters).catch((/** @type {Error} */ error) => error);
  // Without a report, Vitest itself could not start.
  if (failure && !existsSync(report)) throw failure;
  const before = counts.failed;
  countTests();
  // An error outside any test, such as an unhandled rejection, fails the run without failing a test.
  if (failure && counts.failed === before) throw failure;
}

function countTests() {
  /** @typedef {{ status: string; message: string; assertionResults: { status: string }[] }} File */
  const files = /** @type {{ testResults: File[] }} */ (JSON.parse(readFileSync(report, 'utf8'))).testResults;
  for (const file of files) {
    for (const { status } of file.assertionResults) {
      if (status === 'passed') counts.passed++;
      else if (status === 'failed') counts.failed++;
      else counts.skipped++;
    }
    // A file that could not even be loaded has no tests to count.
    if (file.status === 'failed' && !file.assertionResults.some(({ status }) => status === 'failed')) counts.failed++;
  }
}

/**
 * Runs pnpm; shows what it printed only when it fails, except for the tests, which are worth watching.
 * @param {string[]} args
 * @returns {Promise<void>}
 */
function pnpm(...args) {
  const quiet = !args.includes('vitest');
  return new Promise((resolve, reject) => {
    const child = spawn('pnpm', args, { env, stdio: quiet ? ['ignore', 'pipe', 'pipe'] : 'inherit' });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) return resolve();
      process.stdout.write(output);
      reject(new Error(`failed: pnpm ${args.join(' ')}`));
    });
  });
}
