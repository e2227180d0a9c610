// Embeds the Lua scripts in a TypeScript module: edge runtimes have no file system, and the SHA-1 that EVALSHA wants is
// then known without hashing at run time. `--check` writes nothing and fails when the module is stale.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../packages/core/src');
const target = join(root, 'stores/scripts.generated.ts');

/** @param {string} folder @returns {string[]} its .lua files, in the same order on every machine */
function luaFiles(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.lua'))
    .toSorted()
    .map((name) => join(folder, name));
}

/**
 * A script without its whole-line comments and blank lines. Only a line that is nothing but a comment goes, so no string
 * can be cut; what could make such a line part of a longer token (a long bracket) is refused.
 * @param {string} file
 */
function read(file) {
  const lines = readFileSync(file, 'utf8').replaceAll('\r\n', '\n').split('\n');
  const longBracket = lines.findIndex((line) => /\[=*\[|\\$|\\z/.test(line));
  if (longBracket !== -1) {
    throw new Error(`${file}:${longBracket + 1}: [[, [=[, \\z and a trailing backslash cannot be embedded safely`);
  }
  return lines.filter((line) => !/^\s*(--.*)?$/.test(line)).map((line) => line.trimEnd());
}

/** @param {string} source */
function literal(source) {
  return `\`${source.replace(/[`\\]|\$\{/g, '\\$&')}\``;
}

/**
 * @param {string} prologue
 * @param {string} body
 */
function script(prologue, body) {
  const sha1 = createHash('sha1').update(`${prologue}\n${body}`).digest('hex');
  return `{\n  sha1: '${sha1}',\n  source: \`\${PROLOGUE}\n${literal(body).slice(1)},\n}`;
}

function generate() {
  // Every script begins with the algorithms and with what all scripts share, which is embedded once.
  const common = join(root, 'stores/common.lua');
  const prologue = [...luaFiles(join(root, 'algorithms')), common].flatMap(read).join('\n');
  const files = luaFiles(join(root, 'stores')).filter((file) => file !== common);
  const scripts = files.map((file) => {
    const name = file.slice(join(root, 'stores/').length, -'.lua'.length);
    return `export const ${name.replaceAll('-', '_').toUpperCase()}: Script = ${script(prologue, read(file).join('\n'))};\n`;
  });
  return [
    '// Generated from the .lua files. Edit those and run `pnpm embed`.\n',
    'export interface Script {\n  readonly sha1: string;\n  readonly source: string;\n}\n',
    `const PROLOGUE = ${literal(prologue)};\n`,
    ...scripts,
  ].join('\n');
}

const generated = generate();
const fresh = existsSync(target) && readFileSync(target, 'utf8') === generated;
if (!fresh && process.argv.includes('--check')) {
  console.error('packages/core/src/stores/scripts.generated.ts is stale: run pnpm embed');
  process.exitCode = 1;
} else if (!fresh) {
  writeFileSync(target, generated);
  console.log('wrote packages/core/src/stores/scripts.generated.ts');
}
