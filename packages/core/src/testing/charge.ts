import { definePolicy } from '../policy/define-policy.ts';
import type { Charge } from '../policy/charge.ts';
import type { LimitOptions } from '../policy/policy.ts';

/** A charge of one limit, as a request would make it: `toCharge({ limit: 5, window: '1m' }, 'alice')`. */
export function toCharge(limit: Omit<LimitOptions, 'cost'>, partition: string, cost = 1): Charge {
  const { limits } = definePolicy({ name: 'test', limits: [{ per: 'ip', ...limit }], cost: 0 });
  const [prepared] = limits;
  if (prepared === undefined) throw new Error('a policy has at least one limit');
  const { rule, localRule } = prepared;
  return { rule, localRule, partition, tag: partition, cost, ownCost: false, isOwn: true, resetWhen: undefined };
}
