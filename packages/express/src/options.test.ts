import { describeOptions, describeValues, limiterValues, policyValues } from '@tollgate/core/testing';
import { createLimiter, rateLimit, read } from './index.ts';

describeOptions({
  at: 'rateLimit',
  base: {},
  make: (options) => rateLimit(read(), options),
  options: { limiter: limiterValues() },
});

const specs = policyValues();
describeValues('policy', (spec) => rateLimit(spec, { limiter: createLimiter() }), {
  ...specs,
  bad: [undefined, ...specs.bad],
});
