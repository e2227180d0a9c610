import { type BareItem, parseDictionary, parseList } from 'structured-headers';
import { expect } from 'vitest';
import type { DenialAnswer } from '../policy/denial.ts';
import type { HeaderFamily } from '../reply/reply-options.ts';
import { redisStore } from '../stores/redis-store.ts';
import { type AdapterTest, inTurn } from './adapter-bench.ts';

const PROBLEM = 'application/problem+json';

interface Family {
  readonly family: HeaderFamily | 'none';
  /** What is said of quota in an answer. */
  readonly read: (headers: Headers) => unknown;
  /** It, of the first answer and of the first denial. */
  readonly first: unknown;
  readonly denied: unknown;
}

const policyOf = (headers: Headers): unknown => itemsOf(headers.get('ratelimit-policy'));
const valuesOf = (headers: Headers, prefix: string): unknown =>
  ['limit', 'remaining'].map((name) => headers.get(`${prefix}-${name}`));
const dictionaryOf = (headers: Headers): unknown => {
  const members = parseDictionary(headers.get('ratelimit') ?? '');
  return ['limit', 'remaining'].map((name): unknown => members.get(name)?.[0]);
};
const seconds = expect.any(Number) as number;

const FAMILIES: readonly Family[] = [
  {
    family: 'ietf',
    read: (headers) => [policyOf(headers), itemsOf(headers.get('ratelimit'))],
    first: [[['everywhere', { q: 3, w: 60 }]], [['everywhere', { r: 2, t: seconds }]]],
    denied: [[['everywhere', { q: 3, w: 60 }]], [['everywhere', { r: 0, t: seconds }]]],
  },
  {
    family: 'draft-7',
    read: (headers) => [policyOf(headers), dictionaryOf(headers)],
    first: [[[3, { w: 60 }]], [3, 2]],
    denied: [[[3, { w: 60 }]], [3, 0]],
  },
  {
    family: 'draft-6',
    read: (headers) => [policyOf(headers), valuesOf(headers, 'ratelimit')],
    first: [[[3, { w: 60 }]], ['3', '2']],
    denied: [[[3, { w: 60 }]], ['3', '0']],
  },
  { family: 'legacy', read: (headers) => valuesOf(headers, 'x-ratelimit'), first: ['3', '2'], denied: ['3', '0'] },
  { family: 'none', read: () => [], first: [], denied: [] },
];

/** The cases of describeAdapter about what a client is told. `policy` is 3 per minute per identity unless a case says otherwise. */
export function replyCases(test: AdapterTest): void {
  for (const { family, read, first, denied } of FAMILIES) {
    test(`the family ${family}, and no other`, async ({ start }) => {
      const client = await start({ reply: { headers: family === 'none' ? [] : family } });
      const responses = await inTurn(4, () => client.get('/read'));
      const [passed, last] = [responses[0], responses[3]] as [Response, Response];
      expect(last.status).toBe(429);
      expect(read(passed.headers)).toEqual(first);
      expect(read(last.headers)).toEqual(denied);
      expect(last.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      const names = (response: Response): string[] =>
        [...response.headers.keys()].filter((name) => /ratelimit/.test(name)).toSorted();
      expect(names(last)).toEqual(names(passed));
      expect(names(passed).some((name) => name.startsWith('x-'))).toBe(family === 'legacy');
      expect(names(passed).some((name) => /^ratelimit-(limit|reset)/.test(name))).toBe(family === 'draft-6');
    });
  }

  test('a client that asks for problem details gets them, with their media type', async ({ start }) => {
    const client = await start({ limit: { limit: 1, window: '1m' } });
    await client.get('/read');
    const response = await client.get('/read', { accept: `${PROBLEM}, application/json;q=0.9` });
    // Exactly: the type has no parameters.
    expect(response.headers.get('content-type')).toBe(PROBLEM);
    const retryAfter = Number(response.headers.get('retry-after'));
    expect(await response.json()).toEqual({
      'type': 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      'title': 'Quota Exceeded',
      'status': 429,
      'detail': `Too many requests. Try again in ${retryAfter} seconds.`,
      'violated-policies': ['everywhere'],
      'retry_after': retryAfter,
    });
    expect(mediaType(await client.get('/read', { accept: '*/*' }))).toBe('application/json');
  });

  test('problem details for everybody, also while the store is gone', async ({ start }) => {
    const reply = { body: 'problem' } as const;
    const gone = await start({ reply, onStoreFailure: 'closed', store: redisStore('redis://127.0.0.1:1') });
    const response = await gone.get('/read');
    expect([response.status, mediaType(response)]).toEqual([503, PROBLEM]);
    expect(response.headers.get('retry-after')).toBe('5');
    expect(await response.json()).toMatchObject({
      type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
      status: 503,
    });
  });

  test('a HEAD that is denied has the headers and no body', async ({ start }) => {
    const client = await start({ limit: { limit: 1, window: '1m' } });
    await client.get('/read');
    const response = await client.send('HEAD', '/read');
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await response.text()).toBe('');
  });

  test('message and status are the application’s', async ({ start }) => {
    const client = await start({ limit: { limit: 1, window: '1m' }, message: 'Slow down.', status: 420 });
    await client.get('/read');
    const response = await client.get('/read');
    expect(response.status).toBe(420);
    expect(await response.json()).toMatchObject({ error: 'rate_limit_exceeded', message: 'Slow down.' });
  });

  for (const kind of ['at once', 'later'] as const) {
    test(`a handler words the answer, ${kind}`, async ({ start }) => {
      const answer = { status: 403, headers: { 'X-Plan': 'free' }, body: { upgrade: true } };
      const client = await start({
        limit: { limit: 1, window: '1m' },
        handler: () => (kind === 'at once' ? answer : Promise.resolve(answer)),
      });
      await client.get('/read');
      const response = await client.get('/read');
      expect([response.status, response.headers.get('x-plan')]).toEqual([403, 'free']);
      expect(mediaType(response)).toBe('application/json');
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(await response.json()).toEqual({ upgrade: true });
    });
  }

  const ANSWERS: readonly [what: string, answer: DenialAnswer, type: string | RegExp, text: string][] = [
    ['text', { body: 'Later.' }, /^text\/plain; charset=utf-8$/i, 'Later.'],
    ['a page', { headers: { 'content-type': 'text/html' }, body: '<p>Later</p>' }, /^text\/html(;|$)/, '<p>Later</p>'],
    [
      'JSON of another type',
      { headers: { 'Content-Type': 'application/vnd.api+json' }, body: { a: 1 } },
      /^application\/vnd\.api\+json(;|$)/,
      '{"a":1}',
    ],
    [
      'JSON under the type of something else',
      { headers: { 'Content-Type': 'application/vnd.api' }, body: { a: 1 } },
      /^application\/vnd\.api$/,
      '{"a":1}',
    ],
    ['nothing', { body: '' }, /^text\/plain/, ''],
  ];
  for (const [what, answer, type, text] of ANSWERS) {
    test(`a handler answers ${what}`, async ({ start }) => {
      const client = await start({ limit: { limit: 1, window: '1m' }, handler: () => answer });
      await client.get('/read');
      const response = await client.get('/read');
      expect([response.status, response.headers.get('content-type')]).toEqual([429, expect.stringMatching(type)]);
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(await response.text()).toBe(text);
    });
  }

  test('a handler that fails denies all the same', async ({ start }) => {
    const client = await start({
      limit: { limit: 1, window: '1m' },
      handler: () => {
        throw new Error('no');
      },
    });
    await client.get('/read');
    const response = await client.get('/read');
    expect(response.status).toBe(429);
    expect(await response.json()).toMatchObject({ error: 'rate_limit_exceeded' });
  });

  test('scripts of other origins may read the fields', async ({ start }) => {
    const client = await start({ limit: { limit: 1, window: '1m' }, reply: { exposeHeaders: true } });
    for (const status of [200, 429]) {
      const { headers, status: answered } = await client.get('/read', { origin: 'https://a.test' });
      expect(answered).toBe(status);
      const exposed = headers.get('access-control-expose-headers')?.toLowerCase().split(', ');
      expect(exposed).toEqual(expect.arrayContaining(['ratelimit', 'ratelimit-policy', 'retry-after']));
      for (const name of headers.keys()) if (/ratelimit|retry-after/.test(name)) expect(exposed).toContain(name);
    }
    const same = await client.get('/read');
    expect(same.headers.get('access-control-expose-headers')).toBeNull();
  });

  test('a name that would break out of a header comes back as it is', async ({ start }) => {
    const name = String.raw`a"b\c;q=9, "x`;
    const client = await start({ name, limit: { limit: 1, window: '1m' } });
    const first = await client.get('/read');
    expect(itemsOf(first.headers.get('ratelimit-policy'))).toEqual([[name, { q: 1, w: 60 }]]);
    expect(itemsOf(first.headers.get('ratelimit'))).toMatchObject([[name, { r: 0 }]]);
    const denied = await client.get('/read', { accept: PROBLEM });
    expect(await denied.json()).toMatchObject({ 'violated-policies': [name] });
  });

  test('a partition key differs by client, and is no hash that trying all addresses would find', async ({ start }) => {
    const client = await start({ reply: { partitionKey: true }, pepper: 'a pepper for the suite' });
    const keyOf = async (agent: string): Promise<string> => {
      const { headers } = await client.get('/read', { 'user-agent': agent });
      const [[, { pk }] = [undefined, {}]] = itemsOf(headers.get('ratelimit'));
      expect(itemsOf(headers.get('ratelimit-policy'))[0]?.[1]['pk']).toEqual(pk);
      return [...new Uint8Array(pk as ArrayBuffer)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    };
    const mine = await keyOf('one');
    expect(mine).toMatch(/^[0-9a-f]{24}$/);
    expect(await keyOf('one')).toBe(mine);
    expect(await keyOf('two')).not.toBe(mine);
    for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) {
      const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(address));
      expect([...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('')).not.toContain(
        mine,
      );
    }
  });

  test('several limits of a policy are all listed, and the one that denies is named', async ({ start }) => {
    const client = await start({
      limits: [
        { name: 'short', limit: 2, window: '10s' },
        { name: 'long', limit: 50, window: '1h' },
        { limit: 1000, window: '1h', per: 'global' },
      ],
    });
    const [first] = await inTurn(2, () => client.get('/read'));
    expect(itemsOf(first?.headers.get('ratelimit-policy') ?? null)).toEqual([
      ['everywhere-short', { q: 2, w: 10 }],
      ['everywhere-long', { q: 50, w: 3600 }],
    ]);
    const denied = await client.get('/read', { accept: PROBLEM });
    expect(await denied.json()).toMatchObject({ 'violated-policies': ['everywhere-short'] });
    // All or none: what is denied is charged nowhere.
    expect(itemsOf(denied.headers.get('ratelimit'))[1]).toMatchObject(['everywhere-long', { r: 48 }]);
  });
}

/** A list of items, with their parameters as an object. */
function itemsOf(field: string | null): [value: unknown, parameters: Record<string, BareItem>][] {
  return parseList(field ?? '').map(([value, parameters]) => [value, Object.fromEntries(parameters)]);
}

function mediaType(response: Response): string | undefined {
  return response.headers.get('content-type')?.split(';')[0];
}
