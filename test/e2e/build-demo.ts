import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** Builds the demo and the packages in it. Turbo does nothing where `pnpm test` has built them already. */
export default function buildDemo(): void {
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { packageManager: string };
  const filter = '--filter=@tollgate/example-express...';
  const installed = spawnSync('pnpm', ['--version'], { stdio: 'ignore' }).status === 0;
  const [program, args] = installed ? ['pnpm', []] : ['npx', ['-y', packageManager]];
  const { status, stdout, stderr } = spawnSync(program, [...args, 'exec', 'turbo', 'run', 'build', filter], {
    cwd: root,
    encoding: 'utf8',
    // Tests must not change what is installed.
    env: { ...process.env, npm_config_verify_deps_before_run: 'false', TURBO_TELEMETRY_DISABLED: '1' },
  });
  if (status !== 0) throw new Error(`The demo cannot be built.\n${stdout}\n${stderr}`);
}
