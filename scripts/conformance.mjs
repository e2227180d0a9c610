// `pnpm conformance`: runs the suite that all adapters pass, and prints what came of it as Markdown: how many cases each
// adapter passed, and which it skips, with the reasons. docs/adapters.md holds the table.
import { startVitest } from 'vitest/node';
import { findRedisServer, REDIS_MISSING } from './redis-server.mjs';

/** @typedef {{ passed: number; failed: string[]; skipped: string[] }} Result */

const redis = findRedisServer();
if (!redis) throw new Error(REDIS_MISSING);
process.env['TOLLGATE_REDIS_SERVER'] = redis;

// The names of the suites that `describeAdapter` makes.
const suite = /^adapter (?<adapter>.*) on (?<store>memory|redis) > (?<title>.*)$/;
const vitest = await startVitest('test', [], {
  run: true,
  watch: false,
  testNamePattern: '^adapter ',
  reporters: [{}],
  project: ['!packaging', '!e2e', '!docs', '!core', '!example-*'],
});

/** @type {Map<string, Result>} */
const results = new Map();
for (const module of vitest.state.getTestModules()) {
  for (const test of module.children.allTests()) count(module.project.name, test);
}
const errors = vitest.state.getUnhandledErrors();
await vitest.close();
print();
if (results.size === 0 || errors.length > 0) {
  console.error('The suite did not run as it should:', ...errors);
  process.exitCode = 1;
}

/**
 * @param {string} project
 * @param {import('vitest/node').TestCase} test
 */
function count(project, test) {
  const { adapter, store, title } = suite.exec(test.fullName)?.groups ?? {};
  if (adapter === undefined || title === undefined) return;
  // The projects of other versions run the same files: `nest-10`.
  const name = project.startsWith('nest-') ? adapter.replace('nestjs', project.replace('-', ' ')) : adapter;
  const key = `${name} | ${store}`;
  const result = results.get(key) ?? { passed: 0, failed: [], skipped: [] };
  results.set(key, result);
  const { state } = test.result();
  if (state === 'passed') result.passed++;
  else if (state === 'failed') result.failed.push(title);
  else result.skipped.push(title);
}

function print() {
  console.log('| adapter | store | passed | skipped | failed |\n| --- | --- | --: | --: | --: |');
  /** @type {Map<string, Set<string>>} */
  const skips = new Map();
  for (const [key, { passed, skipped, failed }] of results) {
    console.log(`| ${key} | ${passed} | ${skipped.length} | ${failed.length} |`);
    for (const title of skipped) {
      const adapters = skips.get(title) ?? new Set();
      skips.set(title, adapters.add(key.replace(/ \| .*/, '')));
    }
    if (failed.length > 0) process.exitCode = 1;
  }
  if (skips.size > 0) console.log('\n| skipped | on | because |\n| --- | --- | --- |');
  for (const [title, adapters] of skips) {
    const [, name, reason] = /^(.*) \(skipped: (.*)\)$/.exec(title) ?? [undefined, title, ''];
    console.log(`| ${name} | ${[...adapters].join(', ')} | ${reason} |`);
  }
  for (const [key, { failed }] of results) for (const title of failed) console.error(`failed on ${key}: ${title}`);
}
