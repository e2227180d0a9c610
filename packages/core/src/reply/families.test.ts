import { parseRateLimit } from 'ratelimit-header-parser';
import { decodeDict, decodeList } from 'structured-field-values';
import { describe, expect, it } from 'vitest';
import type { Decision, Outcome } from '../decision.ts';
import { createLimiter } from '../limiter.ts';
import { definePolicy } from '../policy/define-policy.ts';
import type { LimitOptions, Policy, PolicyOptions } from '../policy/policy.ts';
import { read } from '../policy/presets.ts';
import { memoryStore } from '../stores/memory-store.ts';
import { StoreError } from '../errors.ts';
import type { Store } from '../stores/store.ts';
import { createClock, requestOf } from '../testing/index.ts';
import type { ReplyOptions } from './reply-options.ts';
import type { Reply } from './reply.ts';

// What is written is read back by parsers that are not the one it was written with.

interface Situation {
  readonly policies: readonly Policy[];
  /** Requests before the one whose answer is looked at, a second apart. */
  readonly before: number;
  readonly status: 200 | 429 | 503;
  /** Names in the lists, in order. */
  readonly told: readonly string[];
  /** What the single-value families report; undefined: nothing. */
  readonly quota?: { readonly limit: number; readonly remaining: number };
  readonly existing?: Readonly<Record<string, string>>;
  readonly isDown?: boolean;
}

const of = (limit: LimitOptions, policy: Partial<PolicyOptions> = {}): Policy =>
  definePolicy({ name: 'api', ...policy, limits: [limit] });
const five = of({ limit: 5, window: '1m' });
const both = definePolicy({
  name: 'api',
  limits: [
    { name: 'short', limit: 2, window: '10s' },
    { name: 'long', limit: 100, window: '1h' },
  ],
});

const SITUATIONS: Readonly<Record<string, Situation>> = {
  'a first request': { policies: [five], before: 0, status: 200, told: ['api'], quota: { limit: 5, remaining: 4 } },
  'the last unit': { policies: [five], before: 4, status: 200, told: ['api'], quota: { limit: 5, remaining: 0 } },
  'exhausted': { policies: [five], before: 5, status: 429, told: ['api'], quota: { limit: 5, remaining: 0 } },
  'blocked': {
    policies: [of({ limit: 1, window: '1m', block: '1h' })],
    before: 3,
    status: 429,
    told: ['api'],
    quota: { limit: 1, remaining: 0 },
  },
  'a limit of 0': {
    policies: [of({ limit: 0, window: '1m' })],
    before: 0,
    status: 429,
    told: ['api'],
    quota: { limit: 0, remaining: 0 },
  },
  'a cost above the limit': {
    policies: [of({ limit: 5, window: '1m', cost: () => 9 })],
    before: 0,
    status: 429,
    told: ['api'],
    quota: { limit: 5, remaining: 5 },
  },
  'a cost of 0': {
    policies: [of({ limit: 5, window: '1m', cost: 0 })],
    before: 3,
    status: 200,
    told: ['api'],
    quota: { limit: 5, remaining: 5 },
  },
  'a window below a second': {
    policies: [of({ limit: 5, window: 500 })],
    before: 0,
    status: 200,
    told: ['api'],
    quota: { limit: 5, remaining: 4 },
  },
  'a bucket above its limit': {
    policies: [of({ algorithm: 'token-bucket', limit: 60, window: '1m', burst: 200 })],
    before: 0,
    status: 200,
    told: ['api'],
    quota: { limit: 200, remaining: 199 },
  },
  'the largest limit': {
    policies: [of({ limit: 999_999_999_999_999, window: 1 })],
    before: 0,
    status: 200,
    told: ['api'],
    quota: { limit: 999_999_999_999_999, remaining: 999_999_999_999_998 },
  },
  'two windows': {
    policies: [both],
    before: 0,
    status: 200,
    told: ['api-short', 'api-long'],
    quota: { limit: 2, remaining: 1 },
  },
  'two windows, one exhausted': {
    policies: [both],
    before: 2,
    status: 429,
    told: ['api-short', 'api-long'],
    quota: { limit: 2, remaining: 0 },
  },
  'two limits of one number': {
    policies: [
      definePolicy({
        name: 'api',
        limits: [
          { limit: 10, window: '1s' },
          { limit: 10, window: '1m' },
        ],
      }),
    ],
    before: 0,
    status: 200,
    told: ['api-identity-1s', 'api-identity-1m'],
    quota: { limit: 10, remaining: 9 },
  },
  'two policies': {
    policies: [five, read()],
    before: 0,
    status: 200,
    told: ['api', 'read'],
    quota: { limit: 5, remaining: 4 },
  },
  'a global limit that denies': {
    policies: [
      definePolicy({
        name: 'api',
        limits: [
          { limit: 5, window: '1m' },
          { limit: 1, window: '1m', per: 'global' },
        ],
      }),
    ],
    before: 1,
    status: 429,
    told: ['api-identity-1m'],
  },
  'only a global limit': {
    policies: [of({ limit: 5, window: '1m', per: 'global' })],
    before: 0,
    status: 200,
    told: [],
  },
  'a name with quotes': {
    policies: [of({ limit: 5, window: '1m' }, { name: String.raw`a"b\c;q=9, "x` })],
    before: 0,
    status: 200,
    told: [String.raw`a"b\c;q=9, "x`],
    quota: { limit: 5, remaining: 4 },
  },
  'disclose retry-after, allowed': {
    policies: [of({ limit: 5, window: '1m' }, { disclose: 'retry-after' })],
    before: 0,
    status: 200,
    told: [],
  },
  'disclose retry-after, denied': {
    policies: [of({ limit: 1, window: '1m' }, { disclose: 'retry-after' })],
    before: 1,
    status: 429,
    told: [],
  },
  'disclose none, denied': {
    policies: [of({ limit: 1, window: '1m' }, { disclose: 'none' })],
    before: 1,
    status: 429,
    told: [],
  },
  'a login that denies after a limiter that told of plenty': {
    policies: [of({ limit: 1, window: '1s' }, { name: 'login', disclose: 'retry-after' })],
    before: 1,
    status: 429,
    told: ['read'],
    existing: {
      'RateLimit-Policy': '"read";q=1000;w=60',
      'RateLimit': '"read";r=998;t=90',
    },
  },
  'beside an upstream': {
    policies: [five],
    before: 0,
    status: 200,
    told: ['edge', 'api'],
    quota: { limit: 5, remaining: 4 },
    existing: { 'RateLimit-Policy': '"edge";q=100;w=1', 'RateLimit': '"edge";r=99;t=1' },
  },
  'beside an upstream that is no list': {
    policies: [five],
    before: 5,
    status: 429,
    told: ['api'],
    quota: { limit: 5, remaining: 0 },
    existing: { 'RateLimit-Policy': '%%%', 'RateLimit': 'nonsense, ;;' },
  },
  'the store is out: local': { policies: [five], before: 0, status: 200, told: [], isDown: true },
  'the store is out: open': {
    policies: [of({ limit: 0, window: '1m' }, { onStoreFailure: 'open' })],
    before: 0,
    status: 200,
    told: [],
    isDown: true,
  },
  'the store is out: closed': {
    policies: [of({ limit: 5, window: '1m' }, { onStoreFailure: 'closed' })],
    before: 0,
    status: 503,
    told: [],
    isDown: true,
  },
};

const FAMILIES = {
  'default': {},
  'ietf': { headers: 'ietf' },
  'ietf with pk': { headers: ['ietf'], partitionKey: true },
  'draft-7': { headers: 'draft-7' },
  'draft-6': { headers: 'draft-6' },
  'draft-6 and -7': { headers: ['draft-6', 'draft-7'] },
  'legacy': { headers: 'legacy' },
  'none': { headers: [] },
} as const satisfies Record<string, ReplyOptions>;

const CASES = Object.entries(FAMILIES).flatMap(([family, options]) =>
  Object.entries(SITUATIONS).map(([situation, given]) => [family, situation, options as ReplyOptions, given] as const),
);

describe('what each family writes is what its specification reads', () => {
  it.each(CASES)('%s: %s', (_, __, options, given) => {
    const { headers, status, outcomes, now } = answerOf(options, given);
    const families = new Set([options.headers ?? ['ietf', 'draft-6', 'legacy']].flat());
    expect(status ?? 200).toBe(given.status);
    for (const value of Object.values(headers)) expect(value).toMatch(/^[\x20-\x7E]+$/);

    const retryAfter = headers['Retry-After'];
    const passesLater = Number.isFinite(outcomes.find(({ allowed }) => !allowed)?.retryAfterMs ?? 0);
    const isTold = given.status !== 200 && passesLater && given.policies.every(({ disclose }) => disclose !== 'none');
    if (isTold) expect(retryAfter).toMatch(/^[1-9]\d*$/);
    else expect(retryAfter).toBeUndefined();
    expect(headers['Cache-Control']).toBe(given.status === 200 ? undefined : 'no-store');

    if (families.has('ietf')) expectIetf(headers, given, options.partitionKey === true);
    if (families.has('draft-7')) expectDraft7(headers, given);
    if (families.has('draft-6')) expectDraft6(headers, given, families.size === 1);
    if (families.has('legacy')) expectLegacy(headers, given, outcomes, now);
    if (families.size === 0) expect(Object.keys(headers).filter((name) => /ratelimit/i.test(name))).toEqual([]);
  });
});

interface Member {
  readonly value: unknown;
  readonly params: Readonly<Record<string, unknown>>;
}

/** What there was before, with what the limiter set. */
function listIn(headers: Record<string, string>, { existing }: Situation, name: string): Member[] {
  const field = headers[name] ?? existing?.[name];
  return field === undefined ? [] : decodeList(field);
}

function expectIetf(headers: Record<string, string>, given: Situation, hasPk: boolean): void {
  const policies = listIn(headers, given, 'RateLimit-Policy');
  const states = listIn(headers, given, 'RateLimit');
  expect(policies.map(({ value }) => value)).toEqual(given.told);
  expect(states.map(({ value }) => value)).toEqual(given.told);
  for (const [i, { params }] of policies.entries()) {
    const { q, w, pk } = params as { q: number; w: number; pk?: Uint8Array };
    const { r, t, pk: statePk } = (states[i] as Member).params as { r: number; t?: number; pk?: Uint8Array };
    const isUpstream = given.told[i] === 'edge' || given.existing?.['RateLimit-Policy']?.includes(`"${given.told[i]}"`);
    expect([q, r].every((value) => Number.isInteger(value) && value >= 0 && value < 1e15)).toBe(true);
    expect(r).toBeLessThanOrEqual(q);
    expect(Number.isInteger(w) && w > 0).toBe(true);
    if (t !== undefined) {
      expect(Number.isInteger(t) && t > 0).toBe(true);
      expect(t).toBeLessThanOrEqual(Number(headers['Retry-After'] ?? t));
    }
    expect(pk instanceof Uint8Array && pk.length === 12).toBe(hasPk && isUpstream !== true);
    expect(statePk).toEqual(pk);
  }
}

function expectDraft7(headers: Record<string, string>, given: Situation): void {
  expectNumbered(headers, given);
  const field = headers['RateLimit'];
  expect(field === undefined).toBe(given.quota === undefined);
  if (field === undefined) return;
  const { limit, remaining, reset } = decodeDict(field) as unknown as Record<string, { value: number }>;
  expect({ limit: limit?.value, remaining: remaining?.value }).toEqual(given.quota);
  expectReset(headers, given, reset?.value ?? -1);
  expect(parseRateLimit({ ratelimit: field })).toMatchObject(given.quota ?? {});
}

function expectDraft6(headers: Record<string, string>, given: Situation, isAlone: boolean): void {
  if (isAlone) expectNumbered(headers, given);
  const [limit, remaining, reset] = ['Limit', 'Remaining', 'Reset'].map((name) => headers[`RateLimit-${name}`]);
  expect(limit === undefined ? undefined : { limit: Number(limit), remaining: Number(remaining) }).toEqual(given.quota);
  if (limit === undefined) return expect([remaining, reset]).toEqual([undefined, undefined]);
  for (const value of [limit, remaining, reset]) expect(value).toMatch(/^\d+$/);
  expectReset(headers, given, Number(reset));
  expect(parseRateLimit(fieldsOf(headers, /^RateLimit-(?!Policy)/))).toMatchObject(given.quota ?? {});
}

/** `RateLimit-Policy` before draft -08: numbers with a window, no number twice, and the one that is reported among them. */
function expectNumbered(headers: Record<string, string>, given: Situation): void {
  const field = headers['RateLimit-Policy'];
  expect(field === undefined).toBe(given.told.every((name) => given.existing?.['RateLimit-Policy']?.includes(name)));
  if (field === undefined) return;
  const members = decodeList(field) as unknown as Member[];
  const numbers = members.map(({ value }) => value as number);
  expect(new Set(numbers).size).toBe(numbers.length);
  for (const { value, params } of members) {
    expect(Number.isInteger(value) && (value as number) >= 0).toBe(true);
    expect(Number.isInteger(params['w']) && (params['w'] as number) > 0).toBe(true);
  }
  if (given.quota !== undefined) expect(numbers).toContain(given.quota.limit);
}

/** Up to draft -09 Reset and Retry-After are to name one moment; it is seconds from now, never an epoch. */
function expectReset(headers: Record<string, string>, given: Situation, reset: number): void {
  expect(Number.isInteger(reset) && reset >= 0 && reset < 100_000).toBe(true);
  if (given.status === 429) expect(reset).toBe(Number(headers['Retry-After'] ?? reset));
}

function expectLegacy(
  headers: Record<string, string>,
  given: Situation,
  outcomes: readonly Outcome[],
  now: number,
): void {
  const [limit, remaining, reset] = ['Limit', 'Remaining', 'Reset'].map((name) => headers[`X-RateLimit-${name}`]);
  expect(limit === undefined ? undefined : { limit: Number(limit), remaining: Number(remaining) }).toEqual(given.quota);
  if (limit === undefined) return;
  expect(reset).toMatch(/^\d+$/);
  const longest = Math.max(...outcomes.map(({ resetMs }) => resetMs));
  expect(Number(reset) * 1000).toBeGreaterThanOrEqual(now);
  expect(Number(reset) * 1000).toBeLessThanOrEqual(now + longest + 2000);
  expect(parseRateLimit(fieldsOf(headers, /^X-/), { reset: 'unix' })).toMatchObject(given.quota ?? {});
}

/** As a client has them: with names in lower case. */
function fieldsOf(headers: Record<string, string>, pattern: RegExp): Record<string, string> {
  const fields = Object.entries(headers).filter(([name]) => pattern.test(name));
  return Object.fromEntries(fields.map(([name, value]) => [name.toLowerCase(), value]));
}

function answerOf(options: ReplyOptions, given: Situation) {
  const clock = createClock();
  const store = given.isDown === true ? deadStore() : memoryStore({ now: clock });
  const limiter = createLimiter({ store, pepper: 'a pepper for the tests', reply: options, onWarning: () => {} });
  const check = (): Decision => {
    clock.advance(1000);
    // A request each: a policy is charged once per request.
    return limiter.check(requestOf({ user: 'ada' }), given.policies) as Decision;
  };
  for (let i = 0; i < given.before; i++) check();
  const decision = check();
  const now = Date.now();
  const reply = limiter.reply(decision, requestOf({ user: 'ada' }), (name) => given.existing?.[name]) as Reply;
  return { headers: Object.fromEntries(reply.headers), status: reply.status, outcomes: decision.outcomes, now };
}

/** A store of the application's own that cannot decide. */
function deadStore(): Store {
  const fail = (): never => {
    throw new StoreError('unavailable', 'It is out.');
  };
  return { name: 'dead', deadlineMs: 100, take: fail, peek: fail, adjust: fail };
}
