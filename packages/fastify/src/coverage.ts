import type { PolicySpec } from '@tollgate/core';
import type { RouteOptions } from 'fastify';

/** How a route is limited. */
export interface RouteCoverage {
  readonly method: string;
  /** The pattern, with its prefix. */
  readonly url: string;
  /** The names of its policies; `'chosen'` where a function of the request says; empty when it is not limited. */
  readonly policies: readonly string[] | 'chosen';
  /** Whether it was taken out of all limits (`rateLimit: false`). */
  readonly skipped: boolean;
}

export function coverageOf(
  { method, url }: RouteOptions,
  spec: PolicySpec<never> | false,
  skipped: boolean,
): RouteCoverage {
  return { method: [method].flat().join(','), url, policies: spec === false ? [] : namesOf(spec), skipped };
}

function namesOf(spec: PolicySpec<never>): readonly string[] | 'chosen' {
  if (typeof spec === 'function') return 'chosen';
  return [spec].flat().map(({ name }) => name);
}
