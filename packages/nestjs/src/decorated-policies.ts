import { type DiscoveryService, MetadataScanner, type Reflector } from '@nestjs/core';
import type { PolicySpec } from '@tollgate/core';
import { RATE_LIMIT_POLICY } from './tokens.ts';

/** The policies of all that is decorated (a GraphQL resolver is a provider), so that what is wrong with one stops the start and no request. */
export function decoratedPolicies(discovery: DiscoveryService, reflector: Reflector): PolicySpec<never>[] {
  const scanner = new MetadataScanner();
  const specs: (PolicySpec<never> | false | undefined)[] = [];
  for (const { metatype } of [...discovery.getControllers(), ...discovery.getProviders()]) {
    const prototype = (metatype as { prototype?: Record<string, () => void> } | null | undefined)?.prototype;
    if (typeof metatype !== 'function' || prototype === undefined) continue;
    specs.push(reflector.get(RATE_LIMIT_POLICY, metatype));
    for (const name of scanner.getAllMethodNames(prototype)) {
      const handler = prototype[name];
      if (handler !== undefined) specs.push(reflector.get(RATE_LIMIT_POLICY, handler));
    }
  }
  return specs.filter((spec) => spec !== undefined && spec !== false);
}
