import { decide, type DecisionSource, toOutcomes, type Verdict } from '../decision.ts';
import type { Identity } from '../identity/identity.ts';
import type { Charge, PolicyCharges } from '../policy/charge.ts';
import { memoryStore, type MemoryStore } from '../stores/memory-store.ts';
import type { Adjustment } from '../stores/store.ts';
import { type Settlement, toSettlement } from './settlement.ts';

/** Answers a request whose store could not, each policy in its own failure mode. */
export interface Fallback {
  take(asked: readonly PolicyCharges[], identity: Identity): Settlement;
  peek(asked: readonly PolicyCharges[], identity: Identity): Verdict;
}

export function createFallback(): Fallback {
  // Made when first needed: most processes never do.
  let memory: MemoryStore | undefined;

  return {
    take(asked, identity) {
      const { source, local, charges } = split(asked);
      if (source !== 'local') return toSettlement(undecided(asked, identity, source), undefined);
      const store = (memory ??= memoryStore());
      const [{ answers, at } = { answers: [], at: [] }] = store.take([charges.map(toLocal)]);
      const verdict = decide(policiesOf(asked), toOutcomes(local, answers, 'localRule'), identity, source);
      return toSettlement(verdict, {
        charges,
        at,
        adjust: (adjustments) => store.adjust(adjustments.map(toLocalAdjustment)),
      });
    },
    peek(asked, identity) {
      const { source, local, charges } = split(asked);
      if (source !== 'local') return undecided(asked, identity, source);
      const answers = (memory ??= memoryStore()).peek(charges.map(toLocal));
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
  const charges = local.flatMap((one) => one.charges);
  return { source, local, charges };
}

/** A cost that fits the limit has to fit its share as well, or it could not pass before the outage is over. */
function toLocal(charge: Charge): Charge {
  const { rule, localRule, cost } = charge;
  return { ...charge, rule: localRule, cost: cost <= rule.burst ? Math.min(cost, localRule.burst) : cost };
}

/** What was charged locally may be less than what was asked: the change is from that to what the share can hold. */
function toLocalAdjustment(adjustment: Adjustment): Adjustment {
  const { kind, charge: asked, units } = adjustment;
  const charge = toLocal(asked);
  if (kind !== 'refund' && kind !== 'debit') return { ...adjustment, charge };
  const actual = kind === 'refund' ? asked.cost - units : asked.cost + units;
  const more = Math.min(actual, charge.rule.burst) - charge.cost;
  return { ...adjustment, charge, kind: more > 0 ? 'debit' : 'refund', units: Math.abs(more) };
}

function undecided(asked: readonly PolicyCharges[], identity: Identity, source: DecisionSource): Verdict {
  return decide(policiesOf(asked), [], identity, source);
}

function policiesOf(asked: readonly PolicyCharges[]): Verdict['policies'] {
  return asked.map(({ policy }) => policy);
}
