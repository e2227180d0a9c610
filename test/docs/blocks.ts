import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A TypeScript example of a page. */
export interface Block {
  /** The page, as seen from the root of the repository. */
  readonly file: string;
  /** The line of the fence that opens it: its code starts on the next one. */
  readonly line: number;
  readonly code: string;
}

const LANGUAGES = new Set(['ts', 'typescript', 'mts', 'cts', 'tsx']);

/** The examples of all pages that somebody may paste from. */
export function readBlocks(root: string): readonly Block[] {
  const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' });
  const packages = readdirSync(join(root, 'packages'));
  const pages = [
    'README.md',
    'CONTRIBUTING.md',
    ...docs.filter((name) => name.endsWith('.md')).map((name) => `docs/${name.replaceAll('\\', '/')}`),
    ...packages.map((name) => `packages/${name}/README.md`).filter((page) => existsSync(join(root, page))),
  ];
  return pages.toSorted().flatMap((page) => blocksOf(page, readFileSync(join(root, page), 'utf8')));
}

/** The examples of one page. A fence is closed by one that is as long or longer, or by the end of the page. */
export function blocksOf(file: string, markdown: string): readonly Block[] {
  const blocks: Block[] = [];
  const lines = markdown.split(/\r?\n/);
  for (let i = 0; i < lines.length; i++) {
    const [, fence, language = ''] = /^ *(`{3,}|~{3,}) *([^\s`]*)/.exec(lines[i] as string) ?? [];
    if (fence === undefined) continue;
    const line = i + 1;
    const code: string[] = [];
    while (++i < lines.length && !closes(lines[i] as string, fence)) code.push(lines[i] as string);
    if (LANGUAGES.has(language.toLowerCase())) blocks.push({ file, line, code: code.join('\n') });
  }
  return blocks;
}

function closes(line: string, fence: string): boolean {
  const text = line.trim();
  return text.startsWith(fence) && text === fence.charAt(0).repeat(text.length);
}
