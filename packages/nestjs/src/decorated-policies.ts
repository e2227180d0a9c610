import { type DiscoveryService, MetadataScanner, type Reflector } from '@nestjs/core';
import type { PolicySpec } from '@tollgate/core';
import { RATE_LIMIT_POLICY } from './tokens.ts';

/** The policies of all decorated controllers and routes, so that what is wrong with one stops the start and no request. */
export function decoratedPolicies(discovery: DiscoveryService, reflector: Reflector): PolicySpec<never>[] {
  const scanner = new MetadataScanner();
  const specs: (PolicySpec<never> | false | undefined)[] = [];
  for (const { metatype, instance } of discovery.getControllers()) {
    const prototype =
      (instance as object | undefined) && (Object.getPrototypeOf(instance) as Record<string, () => void> | null);
    if (typeof metatype === 'function') specs.push(reflector.get(RATE_LIMIT_POLICY, metatype));
    if (!prototype) continue;
    for (const name of scanner.getAllMethodNames(prototype)) {
      const handler = prototype[name];
      if (handler !== undefined) specs.push(reflector.get(RATE_LIMIT_POLICY, handler));
    }
  }
  return specs.filter((spec) => spec !== undefined && spec !== false);
}
