import { existsSync } from 'node:fs';
import { join } from 'node:path';

export const RUNTIMES = ['workerd', 'bun', 'deno'] as const;

interface Runtime {
  /** Undefined when it is not installed. */
  readonly binary: () => string | undefined;
  /** @param folder where the bundle of the application is */
  readonly args: (folder: string) => readonly string[];
  /** A header that says who the client is, and one that anybody can send. */
  readonly headers: { readonly client: string; readonly forged: string };
  /** What the platform sends with each request. */
  readonly always: Readonly<Record<string, string>>;
}

export const runtimes: Readonly<Record<(typeof RUNTIMES)[number], Runtime>> = {
  workerd: {
    binary: () =>
      find('@cloudflare/workerd-linux-64', '@cloudflare/workerd-linux-arm64', '@cloudflare/workerd-darwin-arm64'),
    args: (folder) => ['serve', join(folder, 'workerd.capnp'), '--control-fd=1'],
    headers: { client: 'cf-connecting-ip', forged: 'x-forwarded-for' },
    always: { 'cf-connecting-ip': '203.0.113.99' },
  },
  bun: {
    binary: () => find('@oven/bun-linux-x64', '@oven/bun-linux-aarch64', '@oven/bun-darwin-aarch64'),
    args: (folder) => ['run', '--no-install', join(folder, 'bun.mjs')],
    headers: { client: 'x-forwarded-for', forged: 'cf-connecting-ip' },
    always: {},
  },
  deno: {
    binary: () => find('@deno/linux-x64-glibc', '@deno/linux-arm64-glibc', '@deno/darwin-arm64'),
    args: (folder) => [
      'run',
      '--no-prompt',
      '--no-config',
      '--no-remote',
      '--allow-net=127.0.0.1',
      join(folder, 'deno.mjs'),
    ],
    headers: { client: 'x-forwarded-for', forged: 'cf-connecting-ip' },
    always: {},
  },
};

/** npm installs of these packages the one that fits the machine. */
function find(...packages: readonly string[]): string | undefined {
  return packages
    .flatMap((name) =>
      ['bin/workerd', 'bin/bun', 'deno'].map((file) => join(import.meta.dirname, 'runtimes/node_modules', name, file)),
    )
    .find((file) => existsSync(file));
}
