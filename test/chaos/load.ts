import type { DecisionSource, Limiter } from '@tollgate/core';
import { watchLag } from './lag.ts';
import { IPS, type Mode, MODES, POLICIES, requestOf } from './policies.ts';

/** What became of a request. */
export interface Answer {
  readonly source: DecisionSource | undefined;
  readonly allowed: boolean;
  /** Whether a quota was told. */
  readonly quota: boolean;
}

/** A request and its answer, in ms of `performance.now()`. */
export interface Sample extends Answer {
  readonly mode: Mode;
  readonly sentAt: number;
  readonly answeredAt: number;
  /** How long it took, less what this process kept it waiting itself, ms. */
  readonly tookMs: number;
}

export type Ask = (mode: Mode, ip: string) => Promise<Answer>;

export interface Load {
  readonly samples: readonly Sample[];
  /** Those that were sent and answered within a span of time. */
  between(from: number, to?: number): Sample[];
  /** The longest that this process did not run at a stretch, ms. */
  longestStallMs(): number;
  /** Stops, and waits for what is still unanswered. @throws what a request failed with */
  stop(): Promise<void>;
}

const EVERY_MS = 20;

/** 150 requests a second, whatever becomes of them: every 20 ms one of each failure mode, for each caller in turn. */
export function startLoad(ask: Ask): Load {
  const lag = watchLag();
  const samples: Sample[] = [];
  const errors: unknown[] = [];
  const unanswered = new Set<Promise<void>>();
  let turn = 0;

  const send = async (mode: Mode, ip: string): Promise<void> => {
    const sentAt = performance.now();
    const answer = await ask(mode, ip);
    const answeredAt = performance.now();
    samples.push({
      ...answer,
      mode,
      sentAt,
      answeredAt,
      tookMs: answeredAt - sentAt - lag.within(sentAt, answeredAt),
    });
  };
  const timer = setInterval(() => {
    const ip = IPS[turn++ % IPS.length] as string;
    for (const mode of MODES) {
      const sent = send(mode, ip)
        .catch((error: unknown) => void errors.push(error))
        .finally(() => unanswered.delete(sent));
      unanswered.add(sent);
    }
  }, EVERY_MS);

  return {
    samples,
    between: (from, to = Infinity) => samples.filter(({ sentAt, answeredAt }) => sentAt >= from && answeredAt < to),
    longestStallMs: () => lag.longest(),
    async stop() {
      clearInterval(timer);
      await Promise.all(unanswered);
      lag.stop();
      if (errors.length > 0) throw errors[0];
    },
  };
}

/** Asks a limiter, as an adapter does. */
export function askLimiter(limiter: Limiter): Ask {
  return async (mode, ip) => {
    const decision = await limiter.check(requestOf(ip), POLICIES[mode]);
    return { source: decision?.source, allowed: decision?.allowed === true, quota: decision?.quota !== undefined };
  };
}

/** The longest that a request took, less what this process kept it waiting itself, whole ms. */
export function slowestOf(samples: readonly Sample[]): number {
  return Math.round(Math.max(...samples.map(({ tookMs }) => tookMs)));
}

/** How many requests were decided by what. */
export function talliesOf(samples: readonly Sample[]): Record<DecisionSource, number> {
  const tallies = { store: 0, local: 0, open: 0, closed: 0 };
  for (const { source } of samples) if (source !== undefined) tallies[source]++;
  return tallies;
}
