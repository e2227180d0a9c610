import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Block } from './blocks.ts';

/** What the compiler says of the blocks. */
export interface Report {
  /** For each block that is wrong, what is wrong, at its line of the page. */
  readonly errors: ReadonlyMap<Block, readonly string[]>;
  /** What it says of anything else, such as of the ambient names. */
  readonly others: readonly string[];
}

/** An example may use the names of ambient/<framework>.ts; its imports tell the framework. */
const FRAMEWORKS = ['express', 'fastify', 'nestjs', 'hono'];
const NO_FRAMEWORK = 'core';

const here = import.meta.dirname;
const typescript = createRequire(import.meta.url).resolve('typescript/package.json');
const compiler = join(dirname(typescript), 'bin/tsc');

/** Compiles the blocks, each as a module of its own, in one run. */
export async function check(blocks: readonly Block[]): Promise<Report> {
  const generated = join(here, '.generated');
  mkdirSync(generated, { recursive: true });
  const directory = mkdtempSync(join(generated, 'run-'));
  try {
    writeProjects(directory, blocks);
    const report = toReport(await compile(directory), blocks);
    // Of a project with an error of syntax the compiler checks no types.
    const whole = blocks.filter((block) => !report.errors.has(block));
    if (![...report.errors.values()].flat().some(isSyntax)) return report;
    const { errors, others } = await check(whole);
    return { errors: new Map([...report.errors, ...errors]), others };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** One project for each framework: they give their requests and their `app` other types. */
function writeProjects(directory: string, blocks: readonly Block[]): void {
  const frameworks = [...FRAMEWORKS, NO_FRAMEWORK];
  for (const framework of frameworks) {
    mkdirSync(join(directory, framework));
    const ambient = `../../../ambient/${framework}.ts`;
    writeJson(join(directory, framework, 'tsconfig.json'), {
      extends: '../../../tsconfig.json',
      files: [ambient],
      include: ['*.ts'],
    });
  }
  for (const [i, block] of blocks.entries()) {
    writeFileSync(join(directory, frameworkOf(block), `${i}.ts`), block.code);
  }
  writeJson(join(directory, 'tsconfig.json'), { files: [], references: frameworks.map((path) => ({ path })) });
}

function writeJson(file: string, value: unknown): void {
  writeFileSync(file, JSON.stringify(value));
}

function frameworkOf({ code }: Block): string {
  return FRAMEWORKS.find((name) => code.includes(`'@tollgate/${name}'`)) ?? NO_FRAMEWORK;
}

function compile(directory: string): Promise<string> {
  const args = [compiler, '--build', '--pretty', 'false'];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { cwd: directory, maxBuffer: 2 ** 26 }, (error, output) => {
      // It fails when it has errors to tell; failing without a word is no answer.
      if (error !== null && output === '') reject(error);
      else resolve(output);
    });
  });
}

function toReport(output: string, blocks: readonly Block[]): Report {
  const errors = new Map<Block, string[]>();
  const others: string[] = [];
  // The lines that go on with a message are indented.
  for (const message of output.split(/\n(?! )/).filter((text) => text.trim() !== '')) {
    const [, index, line, column, text] = /^\w+\/(\d+)\.ts\((\d+),(\d+)\): (.*)$/s.exec(message) ?? [];
    const block = blocks[Number(index)];
    if (block === undefined) others.push(message);
    else {
      const said = `${block.file}:${block.line + Number(line)}:${column} ${text}`;
      errors.set(block, [...(errors.get(block) ?? []), said]);
    }
  }
  return { errors, others };
}

function isSyntax(message: string): boolean {
  return / error TS1\d{3}: /.test(message);
}
