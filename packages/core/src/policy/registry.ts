import { ConfigError } from '../errors.ts';
import type { Policy } from './policy.ts';

/** The policies of one limiter: a name stands for one shape of limits, or two policies would mix up one counter. */
export interface PolicyRegistry {
  /** @throws ConfigError when another policy has this name and other limits */
  add(policy: Policy<never>): void;
}

export function createRegistry(): PolicyRegistry {
  const known = new Set<Policy<never>>();
  const shapes = new Map<string, string>();
  return {
    add(policy) {
      if (known.has(policy)) return;
      const { name, shape } = policy;
      const other = shapes.get(name);
      if (other !== undefined && other !== shape) {
        const sentence = `Two policies are named "${name}" and have different limits (${other} / ${shape}); give one another name.`;
        throw new ConfigError('policy-name-conflict', 'policy.name', sentence);
      }
      shapes.set(name, shape);
      known.add(policy);
    },
  };
}
