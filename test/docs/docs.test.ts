import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Block, blocksOf, readBlocks } from './blocks.ts';
import { check, type Report } from './check.ts';

const blocks = readBlocks(join(import.meta.dirname, '../..'));

describe('the examples of the documentation', () => {
  let report: Report;
  beforeAll(async () => {
    report = await check(blocks);
  });

  it.for(blocks.map((block) => [`${block.file}:${block.line}`, block] as const))('%s', ([, block]) => {
    expect(report.errors.get(block)?.join('\n')).toBeUndefined();
  });

  it('are on each page that tells how to use something', () => {
    const pages = new Set(blocks.map(({ file }) => file));
    const packages = ['core', 'express', 'fastify', 'hono', 'nestjs'].map((name) => `packages/${name}/README.md`);
    const docs = ['algorithms', 'headers', 'identity', 'policies/read', 'policies/expensive'].map(
      (name) => `docs/${name}.md`,
    );
    for (const page of ['README.md', ...packages, ...docs]) expect(pages).toContain(page);
  });

  it('use ambient names that compile', () => {
    expect(report.others).toEqual([]);
  });
});

describe('a page', () => {
  it('has the examples between its fences', () => {
    const page = ['# Title', '```ts', 'one', '```', '```sh', '```ts', '```', '  ~~~~ts title', '```', '~~~~'].join(
      '\n',
    );
    expect(blocksOf('a.md', page)).toEqual([
      { file: 'a.md', line: 2, code: 'one' },
      { file: 'a.md', line: 8, code: '```' },
    ]);
  });

  it('has an example up to its end where a fence is not closed', () => {
    expect(blocksOf('a.md', '````ts\n```\nconst a = 1;')).toEqual([
      { file: 'a.md', line: 1, code: '```\nconst a = 1;' },
    ]);
  });
});

describe('an example that does not compile', () => {
  const page = (line: number, ...code: string[]): Block => ({ file: 'docs/page.md', line, code: code.join('\n') });
  const wrongType = page(40, "import { read } from '@tollgate/core';", '', "read({ window: '5 parsecs' });");
  const wrongOption = page(50, "import { rateLimit } from '@tollgate/express';", 'app.use(rateLimit(7));');
  const wrongSyntax = page(60, 'const a = ;');
  const noPackage = page(70, "import '@tollgate/none';");
  const otherFramework = page(80, "import { read } from '@tollgate/hono';", 'app.set("trust proxy", read());');
  const right = page(
    90,
    "import { rateLimit, read } from '@tollgate/express';",
    'app.use(rateLimit(read(), { limiter }));',
  );

  it('is reported at its line of the page, with what the compiler says', async () => {
    const { errors, others } = await check([wrongType, wrongOption, wrongSyntax, noPackage, otherFramework, right]);
    expect(errors.get(wrongType)?.join()).toMatch(/^docs\/page\.md:43:8 error TS2322: .*5 parsecs/);
    expect(errors.get(wrongOption)?.join()).toMatch(/^docs\/page\.md:52:19 error TS\d+: /);
    expect(errors.get(wrongSyntax)?.join()).toMatch(/^docs\/page\.md:61:11 error TS1109: /);
    expect(errors.get(noPackage)?.join()).toMatch(/^docs\/page\.md:71:8 error TS\d+: /);
    expect(errors.get(otherFramework)?.join()).toMatch(/^docs\/page\.md:82:5 error TS2339: /);
    expect(errors.get(right)).toBeUndefined();
    expect(others).toEqual([]);
  });
});
