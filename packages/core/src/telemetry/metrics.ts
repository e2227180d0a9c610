import type { Attributes } from '@opentelemetry/api';
import type { Outcome, Verdict } from '../decision.ts';
import type { CallOutcome, StoreMeter } from '../resilience/store-observer.ts';
import type { WarningCode } from '../warnings.ts';
import { createPolicyAttributes, type LimitAttributes, type OutcomeName, type PolicyAttributes } from './attributes.ts';
import { createBreakerGauge } from './breaker-gauge.ts';
import { createInstruments, type Instruments } from './instruments.ts';

/** Measures for the OpenTelemetry SDK of the application. Without one, it costs a look for it. */
export interface Metrics extends StoreMeter {
  readonly decided: (verdict: Verdict) => void;
  /** To be told before it is counted in `warnings`. */
  readonly warned: (code: WarningCode) => void;
}

/** @param warnings how often each code came up so far: an SDK that is registered later has missed them */
export function createMetrics(store: string, warnings: ReadonlyMap<WarningCode, number>): Metrics {
  const attributesOf = createPolicyAttributes();
  const gauge = createBreakerGauge(store);
  const instruments = createInstruments((made, meter, provider) => {
    for (const [code, times] of warnings) made.warnings.add(times, { code });
    gauge.observe(meter, provider);
  });
  const calls = new Map<CallOutcome, Attributes>();
  return {
    decided(verdict) {
      const made = instruments();
      if (made !== undefined) countDecision(made, verdict, attributesOf);
    },
    warned: (code) => instruments()?.warnings.add(1, { code }),
    now: () => (instruments() === undefined ? undefined : performance.now()),
    called(sinceMs, outcome) {
      let attributes = calls.get(outcome);
      if (attributes === undefined) calls.set(outcome, (attributes = { store, outcome }));
      instruments()?.storeDuration.record((performance.now() - sinceMs) / 1000, attributes);
    },
    moved: gauge.moved,
  };
}

type AttributesOf = (policy: string) => PolicyAttributes;

function countDecision(made: Instruments, verdict: Verdict, attributesOf: AttributesOf): void {
  const { allowed, source, binding, policies, outcomes, shadow } = verdict;
  const outcome = nameOf(allowed);
  for (const { name, mode } of policies) {
    const attributes = attributesOf(name);
    if (mode === 'shadow') {
      // While the store is out, a policy in the shadow has no say.
      if (source === 'store') made.shadow.add(1, attributes.shadow[nameOf(passes(name, shadow))]);
      continue;
    }
    made.decisions.add(1, attributes.decisions[outcome](source));
    if (source !== 'store') made.degraded.add(1, attributes.degraded(source));
  }
  if (binding?.reason !== undefined) made.denied.add(1, limitOf(binding, attributesOf).denied(binding.reason));
  // Of a local share nothing is told: it is a part of the limit.
  if (!allowed || source !== 'store') return;
  for (const each of outcomes) if (isNear(each)) made.nearLimit.add(1, limitOf(each, attributesOf).nearLimit);
}

function nameOf(allowed: boolean): OutcomeName {
  return allowed ? 'allowed' : 'denied';
}

function passes(policy: string, shadow: readonly Outcome[]): boolean {
  return shadow.every((outcome) => outcome.allowed || outcome.policy.name !== policy);
}

function limitOf({ name, policy }: Outcome, attributesOf: AttributesOf): LimitAttributes {
  return attributesOf(policy.name).limit(name);
}

function isNear({ remaining, burst }: Outcome): boolean {
  // A fifth is left, so 80 % are used; of a bucket that is its burst.
  return remaining * 5 <= burst;
}
