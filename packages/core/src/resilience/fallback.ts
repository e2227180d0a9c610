import { type Decision, decide, type DecisionSource, toOutcomes } from '../decision.ts';
import type { Identity } from '../identity/identity.ts';
import type { PolicyCharges } from '../policy/charge.ts';
import { memoryStore, type MemoryStore } from '../stores/memory-store.ts';

/** Answers a request whose store could not, each policy in its own failure mode. */
export type Fallback = (asked: readonly PolicyCharges[], identity: Identity) => Decision;

export function createFallback(): Fallback {
  // Made when first needed: most processes never do.
  let memory: MemoryStore | undefined;

  return function fallBack(asked, identity) {
    const policies = asked.map(({ policy }) => policy);
    const modes = new Set(policies.map(({ onStoreFailure }) => onStoreFailure));
    // A request that one policy refuses is charged to none.
    if (modes.has('closed')) return decide(policies, [], identity, 'closed');
    const local = asked.filter(({ policy }) => policy.onStoreFailure === 'local');
    const source: DecisionSource = local.length > 0 ? 'local' : 'open';
    if (source === 'open') return decide(policies, [], identity, source);
    memory ??= memoryStore();
    const charges = local.flatMap((one) => one.charges.map((charge) => ({ ...charge, rule: charge.localRule })));
    const [answers = []] = memory.take([charges]);
    return decide(policies, toOutcomes(local, answers, 'localRule'), identity, source);
  };
}
