import { spawnSync } from 'node:child_process';
import { RUNTIMES, runtimes } from './runtimes.ts';

/**
 * Installs the runtimes where they are not yet: 350 MB, and so not with everything else. Where that cannot be, because
 * there is no network or no such binary for the platform, their tests are skipped and say so.
 */
export default function installRuntimes(): void {
  if (RUNTIMES.every((name) => runtimes[name].binary() !== undefined)) return;
  // npm must not read the settings of the pnpm that started the tests.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  const { status, stderr } = spawnSync('npm', args, { cwd: `${import.meta.dirname}/runtimes`, env, encoding: 'utf8' });
  if (status !== 0) process.stderr.write(`The edge runtimes cannot be installed.\n${stderr}\n`);
}
