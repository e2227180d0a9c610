import { createAdaptorServer } from '@hono/node-server';
import { overHttp, type RunningApp } from '@tollgate/core/testing';
import { createLimiter, memoryStore } from '@tollgate/hono';
import type { Server } from 'node:http';
import { createApp } from './app.ts';

/** For tests: the shop on a free port, counting by a clock. */
export function start(now?: () => number): Promise<RunningApp> {
  const store = memoryStore(now && { now });
  const app = createApp(createLimiter({ store, onWarning: () => {} }));
  return overHttp(createAdaptorServer({ fetch: app.fetch }) as Server);
}
