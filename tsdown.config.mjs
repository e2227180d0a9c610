import { readFileSync } from 'node:fs';
import { defineConfig } from 'tsdown';

// One configuration for all: turbo runs it in each package's folder, and the entries are those that the package's
// `exports` name, so that no list is kept twice.
/** @typedef {{ '@tollgate/source': string; import: { default: string } }} Target */
const manifest = /** @type {{ private?: boolean; exports?: Record<string, string | Target> }} */ (
  JSON.parse(readFileSync('package.json', 'utf8'))
);

/** @returns {Record<string, string>} dist name → source file */
function entries() {
  return Object.fromEntries(
    Object.values(manifest.exports ?? {})
      .filter((target) => typeof target === 'object')
      .map((target) => [target.import.default.replace(/^\.\/dist\/|\.mjs$/g, ''), target['@tollgate/source']]),
  );
}

/** Dependencies that are ES modules only. */
const esmOnly = /^(@noble\/hashes|quick-lru)(\/|$)/;

/** @type {import('tsdown').UserConfig} */
const common = { cwd: process.cwd(), target: 'es2022', sourcemap: true, hash: false, logLevel: 'warn' };

export default defineConfig(
  manifest.private
    ? { ...common, entry: { server: 'src/server.ts', ...entries() }, format: 'esm', platform: 'node', dts: false }
    : {
        ...common,
        entry: entries(),
        platform: 'neutral',
        fixedExtension: true,
        dts: { oxc: true },
        format: {
          esm: {},
          // ES modules only: require() would need a newer loader than Jest has, so the CommonJS build carries its copy.
          cjs: {
            deps: {
              alwaysBundle: (id) => esmOnly.test(id),
              onlyBundle: [esmOnly],
              skipNodeModulesBundle: false,
            },
          },
        },
      },
);
