import { overHttp, type RunningApp } from '@tollgate/core/testing';
import { createLimiter, memoryStore } from '@tollgate/fastify';
import { createApp } from './app.ts';

/** For tests: the shop on a free port, counting by a clock. */
export async function start(now?: () => number): Promise<RunningApp> {
  const store = memoryStore(now && { now });
  const app = await createApp(createLimiter({ store, onWarning: () => {} }));
  await app.listen({ port: 0, host: '127.0.0.1' });
  return overHttp(app.server);
}
