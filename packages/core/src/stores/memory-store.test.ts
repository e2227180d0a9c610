import { describe, expect, it } from 'vitest';
import { describeStore, toCharge } from '../testing/index.ts';
import { memoryStore } from './memory-store.ts';

describeStore({ name: 'memory', create: (now) => memoryStore({ now }) });

const RULE = { limit: 5, window: '1m' } as const;

describe('memoryStore', () => {
  it('answers at once, without a promise', () => {
    expect(memoryStore().take([[toCharge(RULE, 'a')]])).toMatchObject([[{ allowed: true, remaining: 4 }]]);
  });
});
