import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type Row = Readonly<Record<string, string | number>>;

/** Where the workers put their rows for the process that prints them. */
const FILE = 'TOLLGATE_CHAOS_REPORT';

export function addRow(row: Row): void {
  const file = process.env[FILE];
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(row)}\n`);
}

/** Vitest runs this once, around all files: what it answers comes after the last. */
export default function setup(): () => void {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-chaos-'));
  const file = join(directory, 'rows.jsonl');
  writeFileSync(file, '');
  process.env[FILE] = file;
  return () => {
    const rows = readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Row);
    rmSync(directory, { recursive: true, force: true });
    // oxlint-disable-next-line no-console -- it is what the run is for
    if (rows.length > 0) console.log(`\n${toTable(rows)}\n`);
  };
}

/** As docs/outage.md has it. */
function toTable(rows: readonly Row[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return [
    toLine(names),
    toLine(names.map(() => '---')),
    ...rows.map((row) => toLine(names.map((name) => row[name] ?? ''))),
  ].join('\n');
}

function toLine(cells: readonly unknown[]): string {
  return `| ${cells.join(' | ')} |`;
}
