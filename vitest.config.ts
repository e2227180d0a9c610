import { existsSync, readdirSync } from 'node:fs';
import { defaultClientConditions, defaultServerConditions } from 'vite';
import { defineConfig } from 'vitest/config';

// Packages of the workspace are read from their sources: tests need no build.
const source = '@tollgate/source';

const workspaces = ['packages', 'examples'].flatMap((parent) =>
  readdirSync(parent)
    .map((name) => ({ name: parent === 'packages' ? name : `example-${name}`, root: `${parent}/${name}` }))
    .filter(({ root }) => existsSync(`${root}/package.json`)),
);

export default defineConfig({
  resolve: { conditions: [source, ...defaultClientConditions] },
  ssr: { resolve: { conditions: [source, ...defaultServerConditions] } },
  test: {
    projects: [
      ...workspaces.map(({ name, root }) => ({
        extends: true as const,
        test: { name, root, include: ['src/**/*.test.ts'] },
      })),
      {
        // Compiles the examples of the documentation.
        test: { name: 'docs', root: 'test/docs', include: ['*.test.ts'], hookTimeout: 60_000, testTimeout: 60_000 },
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
