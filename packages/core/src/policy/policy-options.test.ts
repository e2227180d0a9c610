import { describe } from 'vitest';
import { partition } from '../identity/partition.ts';
import { show } from '../options.ts';
import { describeOptions, describeValues } from '../testing/describe-options.ts';
import {
  all,
  boxed,
  duration,
  FUNCTION,
  integer,
  NO_OBJECTS,
  Odd,
  oneOf,
  printable,
  text,
  type Values,
  word,
} from '../testing/option-values.ts';
import { policyValues } from '../testing/spec-values.ts';
import { definePolicy } from './define-policy.ts';
import type { LimitOptions } from './policy.ts';
import { auth, type AuthOptions } from './auth.ts';
import { expensive, read } from './presets.ts';
import { routes } from './routes.ts';
import { byTier } from './tiers.ts';

const LIMIT: LimitOptions = { limit: 5, window: '1m' };
const MAX_UNITS = 999_999_999_999_999;
const MAX_PER_MINUTE = Math.floor((2 ** 53 - 1) / 60_000);
const WINDOW = duration(1, 31 * 86_400_000);
const ALGORITHMS = ['sliding-window', 'token-bucket', 'leaky-bucket', 'fixed-window', 'sliding-log'];
const PARTITIONS = ['identity', 'ip', 'user', 'apiKey', 'route', 'global'];
// oxlint-disable-next-line unicorn/no-new-array -- what is meant is a hole
const HOLES: unknown[] = new Array(1);

const also = ({ good, bad }: Values, more: Partial<Values>): Values => ({
  good: [...good, ...(more.good ?? [])],
  bad: [...bad, ...(more.bad ?? [])],
});
const orFunction = (values: Values): Values => also(values, { good: FUNCTION.good });

/** What a policy has beside its limits, wherever it is written. */
const policyOptions = (at: string) => ({
  name: printable(64),
  onStoreFailure: {
    good: ['local', 'open', 'closed', { local: 1 }],
    bad: [
      ...all('', 'OPEN', 'fail-open', '__proto__', 5, true, null, [], ['open'], boxed('open'), new Map(), () => 'open'),
      new Odd({}, { option: `${at}.onStoreFailure.local`, received: 'undefined' }),
    ],
  },
  disclose: oneOf('full', 'retry-after', 'none'),
  skip: FUNCTION,
  mode: oneOf('enforce', 'shadow'),
  backstop: integer(1, MAX_UNITS),
  message: text(1000),
  status: integer(400, 599),
  handler: FUNCTION,
});
const per = (option: string): Values => ({
  good: [...PARTITIONS, ['ip'], PARTITIONS, partition('tenant', () => 'x'), ['ip', partition('tenant', () => 'x')]],
  bad: [
    ...all('', 'IP', 'site', 'session', '__proto__', 5, null, true, {}, [], boxed('ip'), new Set(['ip']), () => 'ip'),
    new Odd(['ip', 'nobody'], { received: '"nobody"' }),
    new Odd(['ip', null], { received: 'null' }),
    new Odd([['ip']], { received: 'an array' }),
    new Odd(HOLES, { received: 'undefined' }),
    new Odd({ name: 'a b', resolve: () => 'x' }, { option: `${option}.name`, received: '"a b"' }),
    new Odd(['ip', { name: 'ip', resolve: () => 'x' }], { option: `${option}.name`, received: '"ip"' }),
    new Odd({ name: boxed('x'), resolve: () => 'x' }, { option: `${option}.name`, received: 'a String' }),
    { name: 'x', resolve: 'x' },
  ],
});
const limit = (option: string): Values =>
  also(orFunction(integer(0, MAX_PER_MINUTE)), {
    good: [byTier({ free: 0, pro: MAX_PER_MINUTE }), { tiers: { free: 1 } }],
    bad: [
      ...[null, 'x', [1], {}, new Map([['free', 1]])].map((tiers) => new Odd({ tiers }, { received: show(tiers) })),
      new Odd({ tiers: { free: -1 } }, { option: `${option}.free`, received: '-1' }),
      new Odd({ tiers: { 'a\nb': '5' } }, { option: `${option}['a\\nb']`, received: '"5"' }),
      new Odd(byTier({ free: 1, pro: MAX_PER_MINUTE + 1 }), {
        option: `${option}.pro`,
        received: `${MAX_PER_MINUTE + 1}`,
      }),
    ],
  });

describeOptions({
  at: 'policy',
  base: { name: 'p', limits: [LIMIT] },
  make: definePolicy,
  options: {
    ...policyOptions('policy'),
    name: { ...printable(64), required: true },
    limits: {
      required: true,
      good: [
        [LIMIT],
        Array.from({ length: 16 }, (_, i) => ({ ...LIMIT, name: `l${i}` })),
        Object.freeze([Object.freeze(LIMIT)]),
      ],
      bad: [
        ...all(null, 'x', 5, {}, [], LIMIT, { 0: LIMIT, length: 1 }, new Set([LIMIT]), () => [LIMIT]),
        new Odd(
          Array.from({ length: 17 }, () => LIMIT),
          { received: '"17 limits"' },
        ),
        new Odd([LIMIT, { ...LIMIT, limit: 9 }], { received: '"identity-1m"' }),
        new Odd(HOLES, { option: 'policy.limits[0]', received: 'undefined' }),
        new Odd([LIMIT, null], { option: 'policy.limits[1]', received: 'null' }),
      ],
    },
    cost: orFunction(integer(0, 5)),
    refundWhen: FUNCTION,
  },
});

describeOptions({
  at: 'policy.onStoreFailure',
  base: { local: 0.5 },
  make: (onStoreFailure) => definePolicy({ name: 'p', limits: [LIMIT], onStoreFailure }),
  options: {
    local: {
      required: true,
      good: [Number.MIN_VALUE, 0.25, 1],
      bad: [0, -0.5, 1.000_001, Number.NaN, Infinity, -Infinity, '0.5', '', null, true, [], [0.5], {}, 1n, boxed(0.5)],
    },
  },
});

describeOptions<LimitOptions>({
  at: 'policy.limits[0]',
  base: LIMIT,
  make: (one) => definePolicy({ name: 'p', limits: [one] }),
  options: {
    name: word(64),
    per: per('policy.limits[0].per'),
    algorithm: oneOf(...ALGORITHMS),
    limit: { ...limit('policy.limits[0].limit'), required: true },
    window: { ...WINDOW, required: true },
    burst: { ...integer(1, MAX_PER_MINUTE), with: { algorithm: 'token-bucket' } },
    shape: {
      with: { algorithm: 'leaky-bucket' },
      good: [{ maxDelay: 0 }, { maxDelay: '1m' }],
      bad: [
        null,
        true,
        5,
        '',
        '1s',
        [],
        new Map(),
        () => ({}),
        new Odd({}, { option: 'policy.limits[0].shape.maxDelay', received: 'undefined' }),
      ],
    },
    block: WINDOW,
    cost: orFunction(integer(0, 5)),
    when: FUNCTION,
    resetWhen: FUNCTION,
  },
});

describeOptions<NonNullable<LimitOptions['shape']>>({
  at: 'policy.limits[0].shape',
  base: { maxDelay: '1s' },
  make: (shape) => definePolicy({ name: 'p', limits: [{ ...LIMIT, algorithm: 'leaky-bucket', shape }] }),
  options: { maxDelay: { ...duration(0, 60_000), required: true } },
});

describe('what bounds a number depends on the others', () => {
  const cases: readonly (readonly [option: string, others: object, max: number, min?: number])[] = [
    ['limit', { window: 1 }, MAX_UNITS],
    ['limit', { window: '31d' }, 3_362_902],
    ['limit', { algorithm: 'sliding-log' }, 10_000],
    ['limit', { algorithm: 'leaky-bucket', window: 1, shape: { maxDelay: '1m' } }, MAX_PER_MINUTE],
    ['burst', { algorithm: 'token-bucket', window: '1d' }, 104_249_991, 1],
    ['burst', { algorithm: 'leaky-bucket', window: 1 }, MAX_UNITS, 1],
    ['cost', { algorithm: 'token-bucket', burst: 9 }, 9],
    ['cost', { algorithm: 'leaky-bucket', burst: 2 }, 2],
    ['cost', { limit: byTier({ free: 3, pro: 7 }) }, 3],
    // A limit of 0 denies everything, which is the point; what a function will say is not known.
    ['cost', { limit: 0 }, MAX_UNITS],
    ['cost', { limit: () => 5 }, MAX_UNITS],
  ];
  for (const [option, others, max, min = 0] of cases) {
    const make = (value: unknown) => definePolicy({ name: 'p', limits: [{ ...LIMIT, ...others, [option]: value }] });
    describeValues(`policy.limits[0].${option}`, make, integer(min, max));
  }

  describeValues(
    'policy.cost',
    (cost) => definePolicy({ name: 'p', cost, limits: [{ ...LIMIT, cost: 1 }] }),
    integer(0, MAX_UNITS),
  );

  describe.each(ALGORITHMS)('what is not for a %s', (algorithm) => {
    const make = (added: object) =>
      definePolicy({ name: 'p', limits: [{ ...LIMIT, algorithm, ...added } as LimitOptions] });
    const forBuckets = { good: [], bad: algorithm.endsWith('bucket') ? [] : [1, null, 'x'] };
    const forLeaky = { good: [], bad: algorithm === 'leaky-bucket' ? [] : [{ maxDelay: '1s' }, null, true] };
    describeValues('policy.limits[0].burst', (burst) => make({ burst }), forBuckets);
    describeValues('policy.limits[0].shape', (shape) => make({ shape }), forLeaky);
  });
});

describeOptions({
  at: 'read',
  base: {},
  make: read,
  options: {
    ...policyOptions('read'),
    cost: orFunction(integer(0, 1000)),
    refundWhen: FUNCTION,
    limit: limit('read.limit'),
    window: duration(1, 31 * 86_400_000),
    per: per('read.per'),
  },
});

describeOptions({
  at: 'expensive',
  base: {},
  make: expensive,
  options: {
    ...policyOptions('expensive'),
    cost: orFunction(integer(0, 60)),
    refundWhen: FUNCTION,
    limit: { ...limit('expensive.limit'), with: { cost: 0 } },
    window: WINDOW,
    per: per('expensive.per'),
    burst: { ...integer(1, MAX_PER_MINUTE), with: { cost: 1 } },
  },
});

describeOptions<AuthOptions>({
  at: 'auth',
  base: { username: () => 'ada' },
  make: auth,
  options: {
    ...policyOptions('auth'),
    username: { ...FUNCTION, required: true },
    success: FUNCTION,
    trustedDevice: FUNCTION,
    normalize: FUNCTION,
  },
});

describe('byTier', () => {
  const tiers = [
    { free: 0 },
    { free: Number.MAX_SAFE_INTEGER },
    Object.fromEntries([['__proto__', 1]]),
    Object.freeze({ a: 1 }),
  ];
  const none = [
    undefined,
    null,
    {},
    [],
    [100],
    'x',
    5,
    boxed('x'),
    new Map([['free', 1]]),
    Promise.resolve({ free: 1 }),
    () => 1,
  ];
  describeValues('byTier', byTier, { good: tiers, bad: none });
  describeValues('byTier.free', (free) => byTier({ pro: 1, free }), integer(0, Number.MAX_SAFE_INTEGER));
  describeValues("byTier['a\\r\\nb']", (units) => byTier({ 'a\r\nb': units }), integer(0, Number.MAX_SAFE_INTEGER));
});

describe('routes', () => {
  const { good, bad } = policyValues();
  const entries = {
    good: [...good.filter((one) => typeof one !== 'function'), false],
    bad: bad.filter((one) => one !== false),
  };
  const whole = entries.bad.map((one) => (one instanceof Odd ? new Odd(one.value, { received: 'an array' }) : one));
  describeValues("routes['/x']", (entry: false) => routes({ '/x': entry }), {
    good: entries.good,
    bad: [undefined, ...whole],
  });
  describeValues('routes', routes, { good: [{ '*': false }], bad: [undefined, {}, ...NO_OBJECTS] });
});
