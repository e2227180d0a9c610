// oxlint-disable no-await-in-loop -- a limit is seen by requests that come one after the other
import { afterEach, beforeAll, expect, it, vi } from 'vitest';
import { start as express } from './express/src/start.ts';
import { start as fastify } from './fastify/src/start.ts';
import { start as hono } from './hono/src/start.ts';
import { start as nestjs } from './nestjs/src/start.ts';
import { createScript, type Step, transcribe } from './script.ts';

const EXAMPLES = { express, fastify, nestjs, hono };
const STARTED_AT = Date.UTC(2026, 6, 4);
const script = createScript(200);

const LOGIN = { method: 'POST', path: '/login', waitMs: 0 } as const;
const JSON_TYPE = { 'user-agent': 'laptop', 'accept': '*/*', 'content-type': 'application/json' };
/** One attempt more than an address has, at as many accounts. */
const SPRAY: readonly Step[] = Array.from({ length: 21 }, (_, i) => ({
  ...LOGIN,
  headers: JSON_TYPE,
  body: JSON.stringify({ email: `user${i}@example.com`, password: 'guess' }),
}));
const MALFORMED: readonly Step[] = [{ ...LOGIN, headers: JSON_TYPE, body: '{"email":' }];

afterEach(() => void vi.useRealTimers());

/** What one example answers to a script. */
async function run(start: typeof express, steps: readonly Step[] = script): Promise<string[]> {
  // `X-RateLimit-Reset` is a time of day.
  vi.useFakeTimers({ toFake: ['Date'], now: STARTED_AT });
  let nowMs = 0;
  const app = await start(() => nowMs);
  const answers: string[] = [];
  try {
    for (const step of steps) {
      nowMs += step.waitMs;
      answers.push(await transcribe(step, await app.fetch(toRequest(step))));
    }
  } finally {
    await app.close();
  }
  return answers;
}

function toRequest({ method, path, headers, body }: Step): Request {
  return new Request(`http://shop.test${path}`, { method, headers, ...(body !== undefined && { body }) });
}

/** The answers that differ, each with what was expected and what came. */
function differences(expected: readonly string[], received: readonly string[]): string {
  return expected
    .flatMap((answer, i) => (answer === received[i] ? [] : [`#${i} expected ${answer}\n#${i} received ${received[i]}`]))
    .join('\n\n');
}

let expected: readonly string[] = [];
beforeAll(async () => {
  expected = await run(express);
});

it('the script meets every kind of answer', () => {
  const kinds = script.map(({ method, path }, i) => `${method} ${path} ${expected[i]?.split('\n')[1]}`);
  expect([...new Set(kinds)].toSorted()).toEqual([
    'DELETE /products 404',
    'GET / 200',
    'GET /health 200',
    'GET /nothing?q=1 404',
    'GET /products 200',
    'GET /products/2 200',
    'GET /products/9 404',
    'HEAD /nothing 404',
    'HEAD /products 200',
    'POST /login 200',
    'POST /login 401',
    'POST /login 429',
    'POST /search 200',
    'POST /search 429',
  ]);
  const problems = expected.filter((answer) => answer.includes('content-type: application/problem+json'));
  expect(problems.length).toBeGreaterThan(3);
});

it.each(['fastify', 'nestjs', 'hono'] as const)('express and %s answer the same 200 requests alike', async (name) => {
  expect(differences(expected, await run(EXAMPLES[name]))).toBe('');
});

// Where they cannot answer to the letter alike.

it('an address that tries too many accounts is denied by Fastify before it knows who is calling', async () => {
  // It does not read the body then, so it has no name to look up, and no user yet whose quota it could tell.
  const [others, early] = [await run(express, SPRAY), await run(fastify, SPRAY)];
  expect(differences(others.slice(0, 20), early.slice(0, 20))).toBe('');
  const withoutQuota = others[20]?.replace(/^ratelimit.*\n/gm, '');
  expect(early[20]).toBe(withoutQuota);
  expect(differences(others, await run(hono, SPRAY)) + differences(others, await run(nestjs, SPRAY))).toBe('');
});

it('a body that cannot be parsed is answered alike, though not everywhere with the quota', async () => {
  // Each framework parses at a place of its own: Nest before its guards, Hono when somebody asks for the body.
  for (const start of Object.values(EXAMPLES)) {
    const [answer = ''] = await run(start, MALFORMED);
    const lines = answer.split('\n').filter((line) => !line.startsWith('ratelimit') && !line.startsWith('x-ratelimit'));
    expect(lines.slice(1)).toEqual(['400', 'content-type: application/json', '{"error":"Bad Request"}']);
  }
});
