import {
  all,
  describeOptions,
  describeValues,
  FUNCTION,
  integer,
  limiterValues,
  Odd,
  policyValues,
  word,
} from '@tollgate/core/testing';
import { createLimiter, rateLimit, type RateLimitOptions, read, type TrustProxy } from './index.ts';

const UNREACHABLE = 'rateLimit.trustProxy.originUnreachable';

describeOptions<RateLimitOptions>({
  at: 'rateLimit',
  base: {},
  make: (options) => rateLimit(read(), options),
  options: {
    limiter: limiterValues(),
    clientIp: FUNCTION,
    trustProxy: {
      good: ['loopback', '10.0.0.0/8, ::1', ['uniquelocal', 'fe80::1%eth0'], { hops: 1, originUnreachable: true }],
      bad: [
        ...all('', 'abc', '0.0.0.0/0', '::/0', '10.0.0.0/33', '::ffff:10.0.0.0/8', '10.0.0.1:80', '1.2.3.4%eth0'),
        ...all(null, true, 1, [], new Set(['loopback']), () => true),
        new Odd(['loopback', ''], { received: '""' }),
        new Odd({ hops: 1 }, { option: UNREACHABLE, received: 'undefined' }),
      ],
    },
    header: {
      with: { trustProxy: 'loopback' },
      good: ['forwarded', 'cf-connecting-ip', 'x'.repeat(64)],
      bad: [...word(64).bad, 'X-Forwarded-For', 'x_y', 'x-forwarded-for,forwarded'],
    },
  },
});

describeOptions<Extract<TrustProxy, { hops: number }>>({
  at: 'rateLimit.trustProxy',
  base: { hops: 1, originUnreachable: true },
  make: (trustProxy) => rateLimit(read(), { trustProxy }),
  options: {
    hops: { ...integer(1, 64), required: true },
    originUnreachable: { required: true, good: [true], bad: [false, 'true', 1, null, {}, []] },
  },
  noObjects: [null, 5, true, new Map(), Promise.resolve({})],
});

const specs = policyValues();
describeValues('policy', (spec) => rateLimit(spec, { limiter: createLimiter() }), {
  ...specs,
  bad: [undefined, ...specs.bad],
});
