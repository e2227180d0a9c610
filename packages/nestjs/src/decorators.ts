import { type CustomDecorator, SetMetadata } from '@nestjs/common';
import type { PolicySpec } from '@tollgate/core';
import type { HttpRequest } from './context.ts';
import { RATE_LIMIT_POLICY } from './tokens.ts';

/** The policy of a controller or a route; on a method it replaces the class's, and both replace the module's. */
export function RateLimit(policy: PolicySpec<HttpRequest>): CustomDecorator<typeof RATE_LIMIT_POLICY>;
/** A policy written for the platform's own request: Express's `Request`, Fastify's `FastifyRequest`. */
export function RateLimit(policy: PolicySpec<never>): CustomDecorator<typeof RATE_LIMIT_POLICY>;
export function RateLimit(policy: PolicySpec<never>): CustomDecorator<typeof RATE_LIMIT_POLICY> {
  // Undefined, as a cycle of imports leaves it, would read as no decorator at all; null stops the start.
  return SetMetadata(RATE_LIMIT_POLICY, policy ?? null);
}

/** Takes a controller or a route out of all limits. */
export function SkipRateLimit(): CustomDecorator<typeof RATE_LIMIT_POLICY> {
  return SetMetadata(RATE_LIMIT_POLICY, false);
}
