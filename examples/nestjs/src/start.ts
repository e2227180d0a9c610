import { overHttp, type RunningApp } from '@tollgate/core/testing';
import { createLimiter, memoryStore } from '@tollgate/nestjs';
import type { Server } from 'node:http';
import { createApp } from './app.ts';

/** For tests: the shop on a free port, counting by a clock. */
export async function start(now?: () => number): Promise<RunningApp> {
  const store = memoryStore(now && { now });
  const app = await createApp(createLimiter({ store, onWarning: () => {} }));
  await app.init();
  return overHttp(app.getHttpServer() as Server);
}
