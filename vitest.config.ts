import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { defaultClientConditions, defaultServerConditions, type Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

// Packages of the workspace are read from their sources: tests need no build.
const source = '@tollgate/source';

// As Node and Vitest by themselves: what a package names as `module` is for bundlers, and need not load in Node.
const forNode = defaultServerConditions.filter((condition) => condition !== 'module');

const workspaces = ['packages', 'examples'].flatMap((parent) =>
  readdirSync(parent)
    .map((name) => ({ name: parent === 'packages' ? name : `example-${name}`, root: `${parent}/${name}` }))
    .filter(({ root }) => existsSync(`${root}/package.json`)),
);

/** Lets the adapter and its tests find the Nest of another package of the workspace, which holds nothing else. */
function useNestOf(root: string): Plugin {
  const importer = join(import.meta.dirname, root, 'package.json');
  return {
    name: 'use-nest-of',
    enforce: 'pre',
    resolveId(specifier, _importer, options) {
      if (!/^(@nestjs\/|reflect-metadata|rxjs)/.test(specifier)) return null;
      return this.resolve(specifier, importer, { ...options, skipSelf: true });
    },
  };
}

export default defineConfig({
  resolve: { conditions: [source, ...defaultClientConditions] },
  ssr: { resolve: { conditions: [source, ...forNode] } },
  test: {
    projects: [
      ...workspaces.map(({ name, root }) => ({
        extends: true as const,
        test: { name, root, include: ['src/**/*.test.ts'] },
      })),
      // The tests of the adapter once more, on the other versions that it is for.
      ...['nest-10', 'nest-12'].map((name) => ({
        extends: true as const,
        plugins: [useNestOf(`test/${name}`)],
        // Not the logins: ten thousand attempts, of which no version of Nest makes more or fewer.
        test: { name, root: 'packages/nestjs', include: ['src/**/*.test.ts'], exclude: ['src/login.test.ts'] },
      })),
      // All of them at once.
      { extends: true as const, test: { name: 'examples', root: 'examples', include: ['*.test.ts'] } },
      {
        // Compiles the examples of the documentation, and runs what can be run.
        extends: true as const,
        test: { name: 'docs', root: 'test/docs', include: ['*.test.ts'], hookTimeout: 60_000, testTimeout: 60_000 },
      },
      {
        // Hono in the runtimes that are not Node, as processes.
        test: {
          name: 'edge',
          root: 'test/edge',
          include: ['*.test.ts'],
          globalSetup: './install.ts',
          hookTimeout: 60_000,
        },
      },
      {
        // Installs what would be published and uses it from plain Node, CommonJS, Jest and TypeScript.
        test: {
          name: 'packaging',
          root: 'test/packaging',
          include: ['*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 300_000,
        },
      },
      {
        // The built demo, as processes over real Redis servers. After all else: it measures time.
        test: {
          name: 'e2e',
          root: 'test/e2e',
          include: ['*.test.ts'],
          globalSetup: './build-demo.ts',
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        // Faults of real Redis servers, each under load. After all else: it measures time.
        extends: true as const,
        test: {
          name: 'chaos',
          root: 'test/chaos',
          include: ['*.test.ts'],
          globalSetup: './report.ts',
          maxWorkers: 1,
          maxConcurrency: 10,
          sequence: { groupOrder: 2 },
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
