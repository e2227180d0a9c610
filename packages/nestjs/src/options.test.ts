import 'reflect-metadata';
import { describeOptions, limiterValues, policyValues } from '@tollgate/core/testing';
import { createLimiter, RateLimitModule, type RateLimitModuleOptions } from './index.ts';

describeOptions<RateLimitModuleOptions>({
  at: 'RateLimitModule.forRoot',
  base: { limiter: createLimiter() },
  make: (options) => RateLimitModule.forRoot(options),
  options: { limiter: limiterValues(), policy: { ...policyValues(), option: 'policy' } },
});
