import { describe, expect, it } from 'vitest';
import type { RequestContext } from '../context.ts';
import type { DecisionSource } from '../decision.ts';
import { partition } from '../identity/partition.ts';
import { createLimiter } from '../limiter.ts';
import { definePolicy } from '../policy/define-policy.ts';
import type { FailureMode } from '../policy/policy.ts';
import { memoryStore } from '../stores/memory-store.ts';
import { requestOf } from '../testing/request.ts';

const ctx = (): RequestContext => requestOf();

/** Its second limit asks for the body, so that it is looked at early; the first needs nothing of the request. */
function policyOf(onStoreFailure: FailureMode) {
  const limits = [
    { limit: 1, window: '1m', per: 'ip' },
    { limit: 9, window: '1m', per: partition('tenant', () => 'a') },
  ] as const;
  return definePolicy({ name: 'p', limits, onStoreFailure });
}

interface Row {
  readonly when: string;
  readonly isDead: boolean;
  readonly mode: FailureMode;
  readonly source: DecisionSource;
  /** What three requests get, one after the other, by the way of asking. */
  readonly checked: readonly boolean[];
  readonly early: readonly (boolean | 'later')[];
}

const rows: readonly Row[] = [
  {
    when: 'the store decides',
    isDead: false,
    mode: 'closed',
    source: 'store',
    checked: [true, false, false],
    early: ['later', false, false],
  },
  {
    when: 'it is out and the policy counts in memory',
    isDead: true,
    mode: { local: 1 },
    source: 'local',
    checked: [true, false, false],
    early: ['later', false, false],
  },
  {
    when: 'it is out and the policy opens',
    isDead: true,
    mode: 'open',
    source: 'open',
    checked: [true, true, true],
    early: ['later', 'later', 'later'],
  },
  {
    when: 'it is out and the policy closes',
    isDead: true,
    mode: 'closed',
    source: 'closed',
    checked: [false, false, false],
    early: [false, false, false],
  },
];

describe.each(rows)('while $when, the source is $source', ({ isDead, mode, source, checked, early }) => {
  const make = () => {
    const dead = () => Promise.reject(new Error('away'));
    const store = isDead ? { ...memoryStore(), take: dead, peek: dead } : memoryStore();
    const sources: DecisionSource[] = [];
    const limiter = createLimiter({
      store,
      onWarning: () => {},
      onDecision: (decision) => sources.push(decision.source),
    });
    return { limiter, sources };
  };

  it('of every decision', async () => {
    const { limiter, sources } = make();
    const policy = policyOf(mode);
    const answers: unknown[] = [];
    for (const _ of checked) answers.push((await limiter.check(ctx(), policy))?.allowed);
    expect(answers).toEqual(checked);
    expect(sources).toEqual(checked.map(() => source));
    expect(await limiter.peek(ctx(), policy)).toMatchObject({ source });
  });

  it('of a denial before the body was read, which is told once', async () => {
    const { limiter, sources } = make();
    const policy = policyOf(mode);
    const answers: unknown[] = [];
    for (const _ of early) {
      const request = ctx();
      const first = await limiter.checkEarly(request, policy);
      answers.push(first === 'later' ? first : first?.allowed);
      if (first === 'later') await limiter.check(request, policy);
    }
    expect(answers).toEqual(early);
    expect(sources).toEqual(early.map(() => source));
  });
});
