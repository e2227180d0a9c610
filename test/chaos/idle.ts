// The process of exits.test.ts: it has a limiter, and no traffic. What it waits for, if anything, is named by its arguments.
import { createLimiter, read } from '@tollgate/core';
import { redisStore } from '@tollgate/core/redis';
import { requestOf } from './policies.ts';

const [url, ...steps] = process.argv.slice(2);
const limiter = createLimiter({ store: redisStore(url), onWarning: () => {} });
const policy = read();
limiter.register(policy);

for (const step of steps) {
  if (step === 'ready') await limiter.ready().catch(() => {});
  if (step === 'check') await limiter.check(requestOf('192.0.2.1'), policy);
  if (step === 'close') await limiter.close();
}
process.stdout.write('idle\n');
