import { type Decision, decide, type DecisionSource, toOutcomes, type Verdict } from '../decision.ts';
import type { Identity } from '../identity/identity.ts';
import type { Charge, PolicyCharges } from '../policy/charge.ts';
import { memoryStore, type MemoryStore } from '../stores/memory-store.ts';
import { toDecision } from './settlement.ts';

/** Answers a request whose store could not, each policy in its own failure mode. */
export interface Fallback {
  take(asked: readonly PolicyCharges[], identity: Identity): Decision;
  peek(asked: readonly PolicyCharges[], identity: Identity): Verdict;
}

export function createFallback(): Fallback {
  // Made when first needed: most processes never do.
  let memory: MemoryStore | undefined;

  return {
    take(asked, identity) {
      const { source, local, charges } = split(asked);
      if (source !== 'local') return toDecision(undecided(asked, identity, source), undefined);
      const store = (memory ??= memoryStore());
      const [{ answers, at } = { answers: [], at: [] }] = store.take([charges]);
      const verdict = decide(policiesOf(asked), toOutcomes(local, answers, 'localRule'), identity, source);
      return toDecision(verdict, { charges, at, adjust: (adjustments) => store.adjust(adjustments) });
    },
    peek(asked, identity) {
      const { source, local, charges } = split(asked);
      if (source !== 'local') return undecided(asked, identity, source);
      const answers = (memory ??= memoryStore()).peek(charges);
      return decide(policiesOf(asked), toOutcomes(local, answers, 'localRule'), identity, source);
    },
  };
}

interface Split {
  readonly source: DecisionSource;
  readonly local: readonly PolicyCharges[];
  readonly charges: readonly Charge[];
}

/** The strictest mode answers: a request that one policy refuses is charged to none. */
function split(asked: readonly PolicyCharges[]): Split {
  // A policy whose limits do not apply to the request has no say in it.
  const concerned = asked.filter(({ charges }) => charges.length > 0);
  const local = concerned.filter(({ policy }) => policy.onStoreFailure === 'local');
  const closed = concerned.some(({ policy }) => policy.onStoreFailure === 'closed');
  const source = closed ? 'closed' : local.length > 0 ? 'local' : 'open';
  const charges = local.flatMap((one) => one.charges.map(toLocal));
  return { source, local, charges };
}

/** A cost that fits the limit has to fit its share as well, or it could not pass before the outage is over. */
function toLocal(charge: Charge): Charge {
  const { rule, localRule, cost } = charge;
  return { ...charge, rule: localRule, cost: cost <= rule.burst ? Math.min(cost, localRule.burst) : cost };
}

function undecided(asked: readonly PolicyCharges[], identity: Identity, source: DecisionSource): Verdict {
  return decide(policiesOf(asked), [], identity, source);
}

function policiesOf(asked: readonly PolicyCharges[]): Verdict['policies'] {
  return asked.map(({ policy }) => policy);
}
