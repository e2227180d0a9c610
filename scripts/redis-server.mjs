// Finds a redis-server for the tests, which run against a real one on a port of their own.
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';

const POLICY = '/usr/sbin/policy-rc.d';

/** @returns {string | undefined} the command that starts Redis */
export function findRedisServer() {
  const named = process.env['TOLLGATE_REDIS_SERVER'];
  if (named) return runs(named) ? named : undefined;
  if (runs('redis-server')) return 'redis-server';
  if (process.getuid?.() === 0 && existsSync('/etc/debian_version')) {
    installOnDebian();
    if (runs('redis-server')) return 'redis-server';
  }
  return undefined;
}

export const REDIS_MISSING = `The tests need a redis-server (7.0 or later, or Valkey), and none could be started here.
  Debian, Ubuntu:  sudo apt-get install redis-server
  macOS:           brew install redis
  elsewhere:       TOLLGATE_REDIS_SERVER=/path/to/redis-server pnpm test${
    process.env['TOLLGATE_REDIS_SERVER']
      ? `

TOLLGATE_REDIS_SERVER is set to ${process.env['TOLLGATE_REDIS_SERVER']}, which does not run: correct it, or unset it.`
      : ''
  }`;

/** @param {string} command */
function runs(command) {
  return spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0;
}

/** Installs the program only: the package must not leave a daemon on port 6379. */
function installOnDebian() {
  const ours = !existsSync(POLICY);
  if (ours) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  try {
    for (const args of [['update'], ['install', '-y', '--no-install-recommends', 'redis-server']]) {
      const { status, stderr } = spawnSync('apt-get', ['-qq', ...args], { env, encoding: 'utf8', timeout: 300_000 });
      if (status !== 0) console.error(stderr.trim());
    }
  } finally {
    if (ours) rmSync(POLICY, { force: true });
  }
}
