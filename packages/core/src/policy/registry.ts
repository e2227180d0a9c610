import { ConfigError } from '../errors.ts';
import type { Policy } from './policy.ts';

/** The policies of one limiter: a name stands for one shape of limits, or two policies would mix up one counter. */
export interface PolicyRegistry {
  /** @throws ConfigError when another policy has this name and other limits */
  add(policy: Policy<never>): void;
}

/** Names are few. Should an application make them up per request, the first ones are enough to see its mistake. */
const MAX_NAMES = 1000;

export function createRegistry(): PolicyRegistry {
  // Weak: a chooser may make its policies anew for each request.
  const known = new WeakSet<Policy<never>>();
  const shapes = new Map<string, string>();
  return {
    add(policy) {
      if (known.has(policy)) return;
      known.add(policy);
      const { name, shape } = policy;
      const other = shapes.get(name);
      if (other === undefined && shapes.size < MAX_NAMES) shapes.set(name, shape);
      if (other === undefined || other === shape) return;
      const sentence = `Two policies are named "${name}" and have different limits (${other} / ${shape}); give one another name.`;
      throw new ConfigError('policy-name-conflict', 'policy.name', sentence);
    },
  };
}
