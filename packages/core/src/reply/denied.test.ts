import { decodeList } from 'structured-field-values';
import { describe, expect, it } from 'vitest';
import type { Decision } from '../decision.ts';
import { createLimiter } from '../limiter.ts';
import type { LimiterOptions } from '../limiter-options.ts';
import { definePolicy } from '../policy/define-policy.ts';
import type { Denial, DenialAnswer } from '../policy/denial.ts';
import type { PolicyOptions } from '../policy/policy.ts';
import { memoryStore } from '../stores/memory-store.ts';
import { createClock, requestOf } from '../testing/index.ts';
import type { Warning } from '../warnings.ts';
import type { Reply } from './reply.ts';

const PEPPER = 'a pepper for the tests';

interface Given {
  readonly limiter?: LimiterOptions;
  readonly policy?: Partial<PolicyOptions>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly existing?: Readonly<Record<string, string>>;
  readonly ip?: string;
}

/** The reply to a request that is above a limit of 1 per minute, 30 s later. */
async function denied(given: Given = {}): Promise<Reply & { readonly fields: Record<string, string> }> {
  const { answer } = limited(given);
  await answer();
  return answer();
}

function limited({ limiter: options, policy, headers = {}, existing = {}, ip = '203.0.113.7' }: Given) {
  const clock = createClock();
  const limiter = createLimiter({
    store: memoryStore({ now: clock }),
    pepper: PEPPER,
    onWarning: () => {},
    ...options,
  });
  const spec = definePolicy({ name: 'api', limits: [{ limit: 1, window: '1m', algorithm: 'sliding-log' }], ...policy });
  const answer = async () => {
    const ctx = requestOf({ ip, header: (name) => headers[name], raw: { url: '/' } });
    const decision = (await limiter.check(ctx, spec)) as Decision;
    clock.advance(30_000);
    const reply = await limiter.reply(decision, ctx, (name) => existing[name]);
    return { ...reply, fields: Object.fromEntries(reply.headers) };
  };
  return { answer, limiter };
}

describe('problem details', () => {
  const problem = {
    'type': 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    'title': 'Quota Exceeded',
    'status': 429,
    'detail': 'Too many requests. Try again in 30 seconds.',
    'violated-policies': ['api'],
    'retry_after': 30,
  };

  it.each([
    ['application/problem+json', true],
    ['Application/Problem+JSON', true],
    ['application/problem+json, application/json', true],
    ['application/json, application/problem+json;q=0.9', false],
    ['application/json;q=0.5, application/problem+json ; charset=utf-8; q=0.9', true],
    ['application/problem+json;q=0', false],
    ['application/problem+json;q=nonsense', false],
    ['application/problem+jsonx', false],
    ['application/json', false],
    ['*/*', false],
    ['', false],
    [undefined, false],
  ])('are for a client that prefers them: Accept: %s', async (accept, isProblem) => {
    const { fields, body, text } = await denied(accept === undefined ? {} : { headers: { accept } });
    expect(fields['Content-Type']).toBe(isProblem ? 'application/problem+json' : 'application/json');
    if (isProblem) expect(body).toEqual(problem);
    else expect(body).toMatchObject({ error: 'rate_limit_exceeded', retry_after: 30 });
    expect(JSON.parse(text)).toEqual(body);
  });

  it('are for everybody where the limiter says so', async () => {
    const { fields, body } = await denied({ limiter: { reply: { body: 'problem' } } });
    expect([fields['Content-Type'], body]).toEqual(['application/problem+json', problem]);
  });

  it('name the limits that deny and may be told of, and no others', async () => {
    const limits = [
      { name: 'hour', limit: 9, window: '1h' },
      { name: 'minute', limit: 1, window: '1m' },
    ] as const;
    const both = await denied({ policy: { limits }, limiter: { reply: { body: 'problem' } } });
    expect(both.body).toMatchObject({ 'violated-policies': ['api-minute'] });
    for (const policy of [
      { disclose: 'retry-after' },
      { limits: [{ limit: 1, window: '1m', per: 'global' }] },
    ] as const) {
      // oxlint-disable-next-line no-await-in-loop -- two in turn
      const { body } = await denied({ policy, limiter: { reply: { body: 'problem' } } });
      expect(body).not.toHaveProperty('violated-policies');
    }
  });

  it('have the status of the answer', async () => {
    const reply = await denied({ policy: { status: 420 }, limiter: { reply: { body: 'problem' } } });
    expect([reply.status, reply.body]).toEqual([420, { ...problem, status: 420 }]);
    const handled = await denied({
      policy: { handler: () => ({ status: 403 }) },
      limiter: { reply: { body: 'problem' } },
    });
    expect([handled.status, handled.body]).toEqual([403, { ...problem, status: 403 }]);
  });
});

describe('wording', () => {
  it('takes message and status of the limiter, and those of the policy before them', async () => {
    const reply = { message: 'Slow down.', status: 420 };
    expect(await denied({ limiter: { reply } })).toMatchObject({ status: 420, body: { message: 'Slow down.' } });
    const policy = { message: 'Ask sales.', status: 402 };
    expect(await denied({ limiter: { reply }, policy })).toMatchObject({
      status: 402,
      body: { message: 'Ask sales.' },
    });
  });

  it('lets a handler answer in other words, and keeps what it leaves out', async () => {
    const seen: [Denial, unknown][] = [];
    const handler = (denial: Denial, req: unknown): DenialAnswer => {
      seen.push([denial, req]);
      return { status: 418, headers: { 'content-type': 'text/html', 'X-Plan': 'free' }, body: '<p>Later</p>' };
    };
    const reply = await denied({ policy: { handler } });
    expect(seen).toEqual([
      [{ status: 429, retryAfter: 30, reason: 'exhausted', policy: 'api', limit: 'api' }, { url: '/' }],
    ]);
    expect(reply).toMatchObject({ status: 418, text: '<p>Later</p>' });
    expect(reply.fields).toMatchObject({ 'Content-Type': 'text/html', 'X-Plan': 'free', 'Retry-After': '30' });
    expect(reply.headers.filter(([name]) => /^content-type$/i.test(name))).toHaveLength(1);
    expect(reply.fields['Cache-Control']).toBe('no-store');
  });

  it.each<[string, DenialAnswer | undefined, string, string]>([
    ['text', { body: 'Later.' }, 'text/plain; charset=utf-8', 'Later.'],
    ['an object', { body: { ok: false } }, 'application/json', '{"ok":false}'],
    ['an empty text', { body: '' }, 'text/plain; charset=utf-8', ''],
    ['nothing', undefined, 'application/json', expect.stringContaining('rate_limit_exceeded') as string],
    ['only a header', { headers: { 'X-A': 'b' } }, 'application/json', expect.stringContaining('rate_limit') as string],
  ])('a handler that answers %s', async (_, answer, type, text) => {
    for (const handler of [() => answer, async () => answer]) {
      // oxlint-disable-next-line no-await-in-loop -- two in turn
      const reply = await denied({ policy: { handler } });
      expect([reply.status, reply.fields['Content-Type'], reply.text]).toEqual([429, type, text]);
    }
  });

  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  it.each<[string, () => unknown]>([
    ['throws', () => raise()],
    ['rejects', () => Promise.reject(new Error('no'))],
    ['answers true', () => true],
    ['answers null', () => null],
    ['answers text', () => 'Later.'],
    ['answers a status of text', () => ({ status: '429' })],
    ['answers a status that is none', () => ({ status: 99 })],
    ['answers a status of 1xx', () => ({ status: 101 })],
    ['answers NaN', () => ({ status: Number.NaN })],
    ['answers a header with a line break', () => ({ headers: { 'X-A': 'b\r\nSet-Cookie: c=d' } })],
    ['answers a header beyond Latin-1', () => ({ headers: { 'X-A': '日' } })],
    ['answers a status without a body: 204', () => ({ status: 204 })],
    ['answers a status without a body: 205', () => ({ status: 205 })],
    ['answers a status without a body: 304', () => ({ status: 304 })],
    ['answers a length of its own', () => ({ headers: { 'Content-Length': '3' }, body: 'longer' })],
    ['answers a transfer coding', () => ({ headers: { 'transfer-encoding': 'chunked' } })],
    ['answers a connection option', () => ({ headers: { Connection: 'close' } })],
    ['answers a misspelt status', () => ({ stauts: 418 })],
    ['answers a body that is nothing as JSON', () => ({ body: { toJSON: () => undefined } })],
    ['answers a header without a name', () => ({ headers: { '': 'b' } })],
    ['answers a header with a space in its name', () => ({ headers: { 'X A': 'b' } })],
    ['answers a header that is a number', () => ({ headers: { 'X-A': 5 } })],
    ['answers headers that are none', () => ({ headers: 'X-A: b' })],
    ['answers a body that is a number', () => ({ body: 5 })],
    ['answers a body that is null', () => ({ body: null })],
    ['answers a body that cannot be serialised', () => ({ body: circular })],
    ['answers a body with a bigint', () => ({ body: { n: 5n } })],
  ])('a handler that %s leaves the answer as it is, and the request denied', async (_, handler) => {
    const warnings: Warning[] = [];
    const reply = await denied({
      policy: { handler: handler as () => DenialAnswer },
      limiter: { onWarning: (warning) => warnings.push(warning) },
    });
    expect([reply.status, reply.fields['Content-Type']]).toEqual([429, 'application/json']);
    expect(reply.body).toMatchObject({ error: 'rate_limit_exceeded' });
    expect(warnings.map(({ code }) => code)).toEqual([expect.stringMatching(/^(resolver-failed|answer-unusable)$/)]);
  });

  it('of a policy that fails closed is 503, and its handler is told so', async () => {
    const store = memoryStore();
    store.take = () => raise();
    const reasons: Denial[] = [];
    const handler = (denial: Denial): undefined => void reasons.push(denial);
    const reply = await denied({
      limiter: { store },
      policy: { onStoreFailure: 'closed', status: 420, message: 'Ask sales.', handler },
      headers: { accept: 'application/problem+json' },
    });
    expect(reasons[1]).toEqual({ status: 503, retryAfter: 5, reason: 'unavailable', policy: 'api', limit: undefined });
    expect(reply.status).toBe(503);
    expect(reply.fields['Retry-After']).toBe('5');
    expect(reply.body).toEqual({
      type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
      title: 'Temporary Reduced Capacity',
      status: 503,
      detail: 'The service cannot take this request now. Try again in 5 seconds.',
      retry_after: 5,
    });
  });

  it('does not take a denial for the success of a login, whatever its handler answers', async () => {
    let asked = 0;
    const policy = { handler: () => ({ status: 200 }), refundWhen: () => (asked += 1) > 0 };
    expect((await denied({ policy })).status).toBe(200);
    expect(asked).toBe(0);
  });
});

describe('jitter', () => {
  it('is added to Retry-After and never taken away', async () => {
    const spread = new Set<string | undefined>();
    for (let i = 0; i < 100; i++) {
      // oxlint-disable-next-line no-await-in-loop -- each on a limiter of its own
      const { fields, body } = await denied({ limiter: { reply: { jitter: '20s', headers: 'draft-6' } } });
      const seconds = Number(fields['Retry-After']);
      expect(body).toMatchObject({ retry_after: seconds });
      expect(fields['RateLimit-Reset']).toBe(String(seconds));
      expect(seconds >= 30 && seconds <= 50).toBe(true);
      spread.add(fields['Retry-After']);
    }
    expect(spread.size).toBeGreaterThan(5);
  });
});

describe('pk', () => {
  const pkOf = async (given: Given): Promise<string> => {
    const { fields } = await denied({ ...given, limiter: { reply: { partitionKey: true }, ...given.limiter } });
    const [policy, state] = ['RateLimit-Policy', 'RateLimit'].map((name) => {
      const [member] = decodeList(fields[name] ?? '') as unknown as { params: { pk: Uint8Array } }[];
      return Buffer.from(member?.params.pk ?? []).toString('hex');
    });
    expect(policy).toBe(state);
    return policy ?? '';
  };

  it('is one for each partition, keyed with the pepper, and none of the hashes that a key could be found by', async () => {
    const mine = await pkOf({});
    expect(mine).toMatch(/^[0-9a-f]{24}$/);
    expect(await pkOf({})).toBe(mine);
    expect(await pkOf({ ip: '203.0.113.8' })).not.toBe(mine);
    expect(await pkOf({ limiter: { pepper: 'another pepper for tests' } })).not.toBe(mine);
    const { createHash, createHmac } = await import('node:crypto');
    const { outcomes } = (await limited({}).limiter.check(
      requestOf(),
      definePolicy({ name: 'other', limits: [{ limit: 1, window: '1m' }] }),
    )) as Decision;
    const partition = outcomes[0]?.partition ?? '';
    for (const text of ['203.0.113.7', partition]) {
      expect(createHash('sha256').update(text).digest('hex')).not.toContain(mine);
      // Who sees a counter's name must not know the client's, nor the other way round.
      expect(createHmac('sha256', PEPPER).update(text).digest('hex')).not.toContain(mine);
    }
  });
});

describe('exposeHeaders', () => {
  const exposed = async (given: Given): Promise<string | undefined> =>
    (await denied({ limiter: { reply: { exposeHeaders: true } }, headers: { origin: 'https://a.test' }, ...given }))
      .fields['Access-Control-Expose-Headers'];
  const all =
    'RateLimit-Policy, RateLimit, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After';

  it('lists the fields for scripts of other origins', async () => {
    expect(await exposed({})).toBe(all);
    expect(await exposed({ headers: {} })).toBeUndefined();
    expect(await exposed({ limiter: {} })).toBeUndefined();
    expect(await exposed({ limiter: { reply: { exposeHeaders: true, headers: 'legacy' } } })).toBe(
      'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After',
    );
  });

  it('adds to what is listed already', async () => {
    const existing = { 'Access-Control-Expose-Headers': 'ETag, retry-after' };
    expect(await exposed({ existing })).toBe(`ETag, retry-after, ${all.replace(', Retry-After', '')}`);
    expect(await exposed({ existing: { 'Access-Control-Expose-Headers': '*' } })).toBeUndefined();
    expect(await exposed({ existing: { 'Access-Control-Expose-Headers': all } })).toBeUndefined();
  });
});

function raise(): never {
  throw new Error('no');
}
