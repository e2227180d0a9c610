import { overHttp, type RunningApp } from '@tollgate/core/testing';
import { createLimiter, memoryStore } from '@tollgate/express';
import { createServer } from 'node:http';
import { createApp } from './app.ts';

/** For tests: the shop on a free port, counting by a clock. */
export function start(now?: () => number): Promise<RunningApp> {
  const store = memoryStore(now && { now });
  return overHttp(createServer(createApp({ limiter: createLimiter({ store, onWarning: () => {} }) })));
}
