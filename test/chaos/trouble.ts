import { setTimeout as sleep } from 'node:timers/promises';
import type { WarningCode } from '@tollgate/core';
import { expect, vi } from 'vitest';
import { expectDegraded, expectEvents, expectShare, flipsIn, isFromStore } from './expectations.ts';
import { type Sample, slowestOf, talliesOf } from './load.ts';
import { addRow } from './report.ts';
import {
  countedIn,
  DEADLINE_MS,
  onStage,
  type Stage,
  type StageOptions,
  statesOf,
  TOLERANCE_MS,
  unhandled,
  until,
} from './stage.ts';

type World = Pick<Stage, 'redis' | 'network'>;

/** Something that keeps Redis from deciding for a while. */
export interface Trouble extends StageOptions {
  readonly name: string;
  readonly begin: (world: World) => unknown;
  readonly end: (world: World) => unknown;
  /** Default: 1500. */
  readonly lastsMs?: number;
  /** It is there before the limiter is made. */
  readonly atBoot?: boolean;
  /** Redis comes back empty. */
  readonly forgets?: boolean;
  /** An operator has to mend it. */
  readonly misconfigured?: boolean;
  /** It comes and goes: the most changes between the store and its place in the answers of one policy. */
  readonly flips?: number;
  /** What Redis may count of requests that were not told so. Default: 60. */
  readonly ghosts?: number;
  /** Looks at the server, in the middle of it and at its end. */
  readonly look?: (world: World) => Promise<() => Promise<void>>;
}

/** A signal, or a setting, may take a moment to arrive. */
const ARRIVES_MS = 30;

/** Lets the trouble happen under load, expects what every trouble has to show, and adds a row to the report. */
export async function expectSurvived(trouble: Trouble): Promise<void> {
  const { begin, atBoot = false, prints = false } = trouble;
  const lines: string[] = [];
  const spies = prints ? (['warn', 'error'] as const).map((name) => spyOn(name, lines)) : [];
  const options: Trouble & StageOptions = {
    ...trouble,
    startsInTrouble: atBoot,
    async before(world) {
      lines.length = 0;
      await trouble.before?.(world);
      if (atBoot) await begin(world);
    },
  };
  try {
    await onStage(options, (stage) =>
      live(trouble, stage, () => (prints ? codesOf(lines) : stage.warnings.map(({ code }) => code))),
    );
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

async function live(trouble: Trouble, stage: Stage, codes: () => WarningCode[]): Promise<void> {
  const { begin, end, atBoot = false, lastsMs = 1500 } = trouble;
  const { load, limiter } = stage;
  if (!atBoot) {
    await until('under load', () => load.samples.length > 60);
    expect(load.samples.filter((sample) => !isFromStore(sample))).toEqual([]);
    await begin(stage);
  }
  const beganAt = atBoot ? 0 : performance.now() + ARRIVES_MS;
  await sleep(lastsMs / 2);
  const looked = await trouble.look?.(stage);
  if (trouble.flips === undefined) await expectShare(stage);
  await sleep(lastsMs / 2);
  await looked?.();
  const endingAt = performance.now();
  await end(stage);
  const endedAt = performance.now();
  await until('decided by the store again', () => load.between(endingAt).some(isFromStore));
  await until('told of the recovery', () => codes().includes('store-recovered'));
  await load.stop();

  const recovered = load.between(endingAt).find(isFromStore) as Sample;
  if (trouble.flips === undefined) {
    expectDegraded(load.between(beganAt, endingAt));
    expect(load.between(recovered.answeredAt).filter((sample) => !isFromStore(sample))).toEqual([]);
  } else expect(flipsIn(load.samples)).toBeLessThanOrEqual(trouble.flips);
  expectEvents(codes(), limiter.warnings, trouble.misconfigured === true);

  const admitted = (trouble.forgets === true ? load.between(endingAt) : load.samples).filter(
    (sample) => isFromStore(sample) && sample.allowed,
  );
  const ghosts = (await countedIn(limiter)) - admitted.length;
  expect(ghosts).toBeGreaterThanOrEqual(0);
  expect(ghosts).toBeLessThanOrEqual(trouble.ghosts ?? 60);
  const slowestMs = slowestOf(load.samples);
  expect(slowestMs).toBeLessThanOrEqual((trouble.deadlineMs ?? DEADLINE_MS) + TOLERANCE_MS);
  expect(unhandled).toEqual([]);
  addRow({
    'scenario': trouble.name,
    'slowest, ms': slowestMs,
    ...talliesOf(load.samples),
    'events': statesOf(codes())
      .map((code) => code.slice('store-'.length))
      .join(', '),
    'ghosts': ghosts,
    'recovered after, ms': Math.max(0, Math.round(recovered.answeredAt - endedAt)),
  });
}

function spyOn(name: 'warn' | 'error', lines: string[]): { mockRestore(): void } {
  return vi.spyOn(console, name).mockImplementation((line: unknown) => void lines.push(String(line)));
}

/** The codes of printed warnings; a line that is none is a line too many. */
function codesOf(lines: readonly string[]): WarningCode[] {
  return lines.map(
    (line) => (/^\[tollgate\] .*\(docs\/errors\.md#([a-z-]+)\)$/.exec(line)?.[1] ?? line) as WarningCode,
  );
}
