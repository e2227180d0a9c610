import { parseList } from 'structured-headers';
import { describe, expect, it } from 'vitest';
import { decide, type DecisionSource, type Outcome, type Verdict } from '../decision.ts';
import { definePolicy } from '../policy/define-policy.ts';
import type { PolicyOptions } from '../policy/policy.ts';
import { createHasher } from '../identity/hash.ts';
import { requestOf } from '../testing/index.ts';
import type { ExistingHeader } from './existing.ts';
import { checkReplyOptions, type ReplyOptions } from './reply-options.ts';
import { createReplier, type Reply } from './reply.ts';

const nothing = (): undefined => undefined;

function outcome(facts: Partial<Outcome>, policy: Partial<PolicyOptions> = {}): Outcome {
  const made = definePolicy({ name: 'read', limits: [{ limit: 1, window: '1m' }], ...policy });
  const neutral = {
    cost: 1,
    disclosed: true,
    partition: 'u.1',
    allowed: true,
    reason: undefined,
    remaining: 5,
    nextMs: 1500,
    resetMs: 61_000,
    retryAfterMs: 0,
    delayMs: 0,
  };
  return { policy: made, name: made.name, limit: 10, burst: 10, windowMs: 60_000, ...neutral, ...facts };
}

function decision(outcomes: readonly Outcome[], source: DecisionSource = 'store'): Verdict {
  return decide(
    [...new Set(outcomes.map(({ policy }) => policy))],
    outcomes,
    { kind: 'user', token: 'u.1', verified: true },
    source,
  );
}

function toReply(of: Verdict, existing: ExistingHeader, options: ReplyOptions = {}, headers = {}): Reply {
  const parts = checkReplyOptions(options, PEPPER);
  const header = (name: string): string | undefined => (headers as Record<string, string>)[name];
  return createReplier(parts, createHasher(PEPPER), () => {})(of, requestOf({ header }), existing) as Reply;
}

const PEPPER = 'a pepper for the tests';

function headersOf(
  of: Verdict,
  existing: (name: string) => string | number | undefined = nothing,
): Record<string, string> {
  return Object.fromEntries(toReply(of, existing).headers);
}

const DENIED = { allowed: false, reason: 'exhausted', remaining: 0, nextMs: 1500, retryAfterMs: 1500 } as const;

describe('a reply', () => {
  it('writes the default families of an allowed request', () => {
    const headers = headersOf(decision([outcome({})]));
    const reset = Number(headers['X-RateLimit-Reset']);
    expect(headers).toEqual({
      'RateLimit-Policy': '"read";q=10;w=60',
      'RateLimit': '"read";r=5;t=2',
      'RateLimit-Limit': '10',
      'RateLimit-Remaining': '5',
      'RateLimit-Reset': '61',
      'X-RateLimit-Limit': '10',
      'X-RateLimit-Remaining': '5',
      'X-RateLimit-Reset': String(reset),
    });
    expect(Math.abs(reset - (Date.now() + 61_000) / 1000)).toBeLessThan(2);
  });

  it('lists every disclosed limit; single values report the one that binds', () => {
    const outcomes = [
      outcome({ name: 'read-burst', remaining: 9 }),
      outcome({ name: 'read-day', remaining: 2, windowMs: 86_400_000 }),
      outcome({ name: 'hidden', disclosed: false, remaining: 0 }),
    ];
    const headers = headersOf(decision(outcomes));
    expect(parseList(headers['RateLimit-Policy'] ?? '').map((item) => String(item[0]))).toEqual([
      'read-burst',
      'read-day',
    ]);
    expect(parseList(headers['RateLimit'] ?? '').map((item) => [String(item[0]), item[1].size])).toEqual([
      ['read-burst', 2],
      ['read-day', 2],
    ]);
    expect(headers['RateLimit-Remaining']).toBe('2');
  });

  it('a bucket that holds more than it gets in a window says so: what remains is never more than the quota', () => {
    const headers = headersOf(decision([outcome({ limit: 60, burst: 200, remaining: 199 })]));
    expect(headers).toMatchObject({
      'RateLimit-Policy': '"read";q=200;w=60',
      'RateLimit-Limit': '200',
      'RateLimit-Remaining': '199',
    });
  });

  it('a window below a second is a second to clients, and an untouched quota has no t', () => {
    const headers = headersOf(decision([outcome({ windowMs: 500, remaining: 10, nextMs: 0, resetMs: 0 })]));
    expect(headers).toMatchObject({
      'RateLimit-Policy': '"read";q=10;w=1',
      'RateLimit': '"read";r=10',
      'RateLimit-Reset': '0',
    });
  });

  it('escapes names so that they parse back', () => {
    const headers = headersOf(decision([outcome({ name: String.raw`a"b\c` })]));
    expect(headers['RateLimit']).toBe(String.raw`"a\"b\\c";r=5;t=2`);
    expect(parseList(headers['RateLimit'] ?? '')[0]?.[0]).toBe(String.raw`a"b\c`);
  });

  it('adds to what is there, and leaves the tighter single values', () => {
    const upstream = (name: string) =>
      ({
        'RateLimit-Policy': '"edge";q=1;w=1',
        'RateLimit': '"edge";r=3;t=1',
        'RateLimit-Limit': 100,
        'RateLimit-Remaining': 3,
        'RateLimit-Reset': 1,
        'X-RateLimit-Limit': 100,
        'X-RateLimit-Remaining': 3,
        'X-RateLimit-Reset': 1_800_000_000,
      })[name];
    expect(headersOf(decision([outcome({})]), upstream)).toEqual({
      'RateLimit-Policy': '"edge";q=1;w=1, "read";q=10;w=60',
      'RateLimit': '"edge";r=3;t=1, "read";r=5;t=2',
    });
    expect(headersOf(decision([outcome({ remaining: 2 })]), upstream)).toMatchObject({ 'RateLimit-Remaining': '2' });
    expect(
      headersOf(decision([outcome(DENIED)]), (name) => (name === 'RateLimit-Remaining' ? 0 : undefined)),
    ).toMatchObject({ 'RateLimit-Limit': '10' });
  });

  it('denies with 429, a Retry-After rounded up, and a body that no cache keeps', () => {
    const reply = toReply(decision([outcome(DENIED)]), nothing);
    expect(reply).toMatchObject({
      status: 429,
      body: { error: 'rate_limit_exceeded', message: 'Too many requests. Try again in 2 seconds.', retry_after: 2 },
    });
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'Retry-After': '2',
      'Cache-Control': 'no-store',
      'Content-Type': 'application/json',
      'RateLimit': '"read";r=0;t=2',
    });
  });

  it('never says Retry-After: 0', () => {
    expect(toReply(decision([outcome({ ...DENIED, nextMs: 0, retryAfterMs: 0 })]), nothing)).toMatchObject({
      body: { message: 'Too many requests. Try again in 1 second.', retry_after: 1 },
    });
  });

  it('leaves out each t that is later than Retry-After', () => {
    const headers = headersOf(decision([outcome(DENIED), outcome({ name: 'day', nextMs: 600_000 })]));
    expect(headers).toMatchObject({ 'Retry-After': '2', 'RateLimit': '"read";r=0;t=2, "day";r=5' });
  });

  it('leaves out later times that an earlier limiter wrote, and its single values', () => {
    const earlier: Record<string, string> = {
      'RateLimit-Policy': '"read";q=1000;w=60',
      'RateLimit': '"read";r=998;t=90',
      'RateLimit-Remaining': '998',
    };
    const hidden = outcome({ ...DENIED, disclosed: false });
    const reply = toReply(
      decision([hidden, outcome({ name: 'own', remaining: 9, nextMs: 60_000 })]),
      (name) => earlier[name],
    );
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'RateLimit': '"read";r=998, "own";r=9',
      'Retry-After': '2',
    });
    expect(reply.remove).toEqual(expect.arrayContaining(['RateLimit-Remaining', 'X-RateLimit-Reset']));
    const login = toReply(decision([outcome(DENIED, { disclose: 'retry-after' })]), (name) => earlier[name]);
    expect(login.remove).toHaveLength(6);
    expect(toReply(decision([outcome(DENIED)]), (name) => earlier[name]).remove).toEqual([]);
  });

  it('an outer limiter that passed adds to the denial of an inner one what does not contradict it', () => {
    const inner: Record<string, string> = { 'Retry-After': '4', 'RateLimit': '"short";r=0;t=4' };
    const headers = headersOf(decision([outcome({ nextMs: 90_000 })]), (name) => inner[name]);
    expect(headers).toEqual({ 'RateLimit-Policy': '"read";q=10;w=60', 'RateLimit': '"short";r=0;t=4, "read";r=5' });
  });

  it.each([
    ['RateLimit-Remaining', '-1'],
    ['RateLimit-Remaining', '1.5'],
    ['X-RateLimit-Remaining', '3'],
  ])('%s: %s without the others tells nothing, and is replaced by all three', (name, value) => {
    const headers = headersOf(decision([outcome({})]), (field) => (field === name ? value : undefined));
    const prefix = name.replace('Remaining', '');
    expect(headers).toMatchObject({ [`${prefix}Limit`]: '10', [`${prefix}Remaining`]: '5' });
    expect(headers).toHaveProperty(`${prefix}Reset`);
  });

  it.each(['draft-6', 'draft-7'] as const)('%s never has two policies of one number', (family) => {
    const existing = (name: string) => (name === 'RateLimit-Policy' ? '10;w=3600, 7;w=1' : undefined);
    const { headers } = toReply(decision([outcome({}), outcome({ name: 'other', limit: 8, burst: 8 })]), existing, {
      headers: family,
    });
    expect(Object.fromEntries(headers)['RateLimit-Policy']).toBe('10;w=3600, 7;w=1, 8;w=60');
  });

  it('takes off a Retry-After that is about something else where it tells none', () => {
    const silent = outcome(DENIED, { disclose: 'none' });
    expect(toReply(decision([silent]), (name) => (name === 'Retry-After' ? '100' : undefined)).remove).toContain(
      'Retry-After',
    );
    expect(toReply(decision([outcome(DENIED)]), nothing).remove).not.toContain('Retry-After');
  });

  it.each(['"x";r=1.5', '"x";r=-1', '"x"', '"x";r=1;t=-2'])('replaces what is no state of a quota: %s', (field) => {
    expect(headersOf(decision([outcome({})]), (name) => (name === 'RateLimit' ? field : undefined))).toMatchObject({
      RateLimit: '"read";r=5;t=2',
    });
  });

  it.each(['"x";q=-1', '"x";q=5;w=0', '"x"', '5;w=60'])('replaces what is no policy: %s', (field) => {
    expect(
      headersOf(decision([outcome({})]), (name) => (name === 'RateLimit-Policy' ? field : undefined)),
    ).toMatchObject({ 'RateLimit-Policy': '"read";q=10;w=60' });
  });

  it.each(['limit=1, "', 'limit=100, remaining=50, reset=3', 'read;r=5', '"edge";r=3,'])(
    'replaces what is no list of names, which would make clients ignore the whole field: %s',
    (field) => {
      expect(
        headersOf(decision([outcome(DENIED)]), (name) => (name === 'RateLimit' ? field : undefined)),
      ).toMatchObject({ RateLimit: '"read";r=0;t=2' });
    },
  );

  it('gives no time when the request can never pass', () => {
    const reply = toReply(decision([outcome({ ...DENIED, reason: 'never', retryAfterMs: Infinity })]), nothing);
    expect(reply.body).toEqual({ error: 'rate_limit_exceeded', message: 'Too many requests.' });
    expect(Object.fromEntries(reply.headers)).not.toHaveProperty('Retry-After');
  });

  it('invents no quota while degraded', () => {
    expect(headersOf(decision([outcome({})], 'local'))).toEqual({});
    expect(headersOf(decision([outcome(DENIED)], 'local'))).toEqual({
      'Retry-After': '2',
      'Cache-Control': 'no-store',
      'Content-Type': 'application/json',
    });
  });

  it('a policy that fails closed is 503, not 429', () => {
    const closed = { ...decision([], 'closed'), policies: [outcome({}).policy] };
    expect(toReply(closed, nothing)).toMatchObject({
      status: 503,
      body: { error: 'rate_limit_unavailable', retry_after: 5 },
    });
  });

  it('tells what the policy discloses: retry-after', () => {
    expect(headersOf(decision([outcome({}, { disclose: 'retry-after' })]))).toEqual({});
    const reply = toReply(decision([outcome(DENIED, { disclose: 'retry-after' })]), nothing);
    expect(reply.headers).toEqual([
      ['Retry-After', '2'],
      ['Cache-Control', 'no-store'],
      ['Content-Type', 'application/json'],
    ]);
  });

  it('tells what the policy discloses: none', () => {
    const reply = toReply(decision([outcome(DENIED, { disclose: 'none' })]), nothing);
    expect(reply.headers).toEqual([
      ['Cache-Control', 'no-store'],
      ['Content-Type', 'application/json'],
    ]);
    expect(reply.body).toEqual({ error: 'rate_limit_exceeded', message: 'Too many requests.' });
  });
});
