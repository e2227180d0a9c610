import type { MetricOptions } from '@opentelemetry/api';

/** What the meter is called. */
export const METER = '@tollgate/core';

/** An instrument, as it is made. */
export interface Metric extends MetricOptions {
  readonly name: string;
}

type MetricKey =
  | 'decisions'
  | 'denied'
  | 'degraded'
  | 'nearLimit'
  | 'shadow'
  | 'warnings'
  | 'storeDuration'
  | 'breakerState';

/** What is measured. The names are final: dashboards and alerts hang on them. docs/telemetry.md has a row for each. */
export const METRICS: Readonly<Record<MetricKey, Metric>> = {
  decisions: {
    name: 'ratelimit.decisions',
    unit: '{decision}',
    description: 'Requests that were decided, for each policy that they have.',
  },
  denied: {
    name: 'ratelimit.denied',
    unit: '{decision}',
    description: 'Requests that a limit denied, by the one with the longest wait.',
  },
  degraded: {
    name: 'ratelimit.degraded',
    unit: '{decision}',
    description: 'Requests that were decided without the store, for each policy that they have.',
  },
  nearLimit: {
    name: 'ratelimit.near_limit',
    unit: '{decision}',
    description: 'Admitted requests after which at least 80 % of a limit were used.',
  },
  shadow: {
    name: 'ratelimit.shadow',
    unit: '{decision}',
    description: 'What policies in shadow mode would have decided.',
  },
  warnings: {
    name: 'ratelimit.warnings',
    unit: '{warning}',
    description: 'Warnings, each time that they came up, said or not.',
  },
  storeDuration: {
    name: 'ratelimit.store.duration',
    unit: 's',
    description: 'How long calls of the store took, until their answer or their deadline.',
    // From a Redis on the same host up to the longest deadline.
    advice: {
      explicitBucketBoundaries: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    },
  },
  breakerState: {
    // Without a unit: "1" would end its name in `_ratio` where Prometheus appends units.
    name: 'ratelimit.breaker.state',
    description: 'Whether the store is asked: 0 closed (it is), 1 half-open (one call probes), 2 open (it is not).',
  },
};

/** In place of the names that are too many to be told apart. */
export const OTHER = 'other';
