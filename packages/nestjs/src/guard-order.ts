import type { ApplicationConfig } from '@nestjs/core';
import type { Limiter } from '@tollgate/core';
import { RateLimitGuard } from './rate-limit.guard.ts';

/** Says which guards run first: what they reject never gets to the limiter, so guessing tokens costs nothing. */
export function warnOfGuardsBefore(config: ApplicationConfig, limiter: Limiter): void {
  const guards = config.getGlobalGuards();
  const before = guards.slice(
    0,
    Math.max(
      0,
      guards.findIndex((guard) => guard instanceof RateLimitGuard),
    ),
  );
  if (before.length === 0) return;
  const names = [...new Set(before.map((guard) => guard.constructor.name))].join(', ');
  limiter.warn(
    'guard-order',
    `${names} runs before RateLimitGuard, so requests that it rejects are not counted. Import RateLimitModule before the ` +
      'module that provides it; what the root module itself provides runs first, so move it into a module of its own.',
  );
}
