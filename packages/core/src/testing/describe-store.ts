import { afterAll, beforeAll, describe, it } from 'vitest';
import type { Answer } from '../algorithms/algorithm.ts';
import type { Charge } from '../policy/charge.ts';
import { Deadline } from '../stores/deadline.ts';
import type { Adjustment, Store } from '../stores/store.ts';
import { createClock, type TestClock } from './clock.ts';
import { adjustmentCases } from './adjustment-cases.ts';
import { algorithmCases } from './algorithm-cases.ts';
import { storeCases } from './store-cases.ts';

/** A store to be tested: fresh and empty each time it is made, on the given clock. */
export interface StoreUnderTest {
  readonly name: string;
  /** Before the first and after the last case. */
  start?(): Promise<void>;
  stop?(): Promise<void>;
  create(now: () => number): Store | Promise<Store>;
  /** Cases that the store cannot pass, each with its reason. */
  readonly skip?: Readonly<Record<string, string>>;
}

/** One case's store and the clock that it counts by. */
export interface StoreBench {
  readonly clock: TestClock;
  readonly store: Store;
  peek(...charges: Charge[]): Promise<readonly Answer[]>;
  /** Makes one change, and tells whether it changed anything. */
  adjust(kind: Adjustment['kind'], charge: Charge, units?: number, at?: number): Promise<boolean>;
  take(...charges: Charge[]): Promise<readonly Answer[]>;
  takeOne(charge: Charge): Promise<Answer>;
}

/** The conformance suite of stores. Every store must give exactly these answers. */
export function describeStore(subject: StoreUnderTest): void {
  describe(`store ${subject.name}`, () => {
    const stores: Store[] = [];
    beforeAll(async () => subject.start?.());
    afterAll(async () => {
      for (const store of stores) await store.close?.();
      await subject.stop?.();
    });

    const test = (name: string, run: (bench: StoreBench) => Promise<void>): void => {
      const reason = subject.skip?.[name];
      it.skipIf(reason !== undefined)(reason === undefined ? name : `${name} (skipped: ${reason})`, async () => {
        const clock = createClock(1_700_000_040_000);
        const store = await subject.create(clock);
        stores.push(store);
        await store.ready?.();
        const take = async (...charges: Charge[]): Promise<readonly Answer[]> =>
          (await store.take([charges], new Deadline(5000)))[0]?.answers ?? [];
        await run({
          clock,
          store,
          take,
          takeOne: async (charge) => (await take(charge))[0] as Answer,
          peek: async (...charges) => store.peek(charges, new Deadline(5000)),
          adjust: async (kind, charge, units = 0, at = 0) =>
            (await store.adjust([{ kind, charge, units, at }], new Deadline(5000)))[0] as boolean,
        });
      });
    };

    storeCases(test);
    algorithmCases(test);
    adjustmentCases(test);
  });
}

export type StoreTest = (name: string, run: (bench: StoreBench) => Promise<void>) => void;
