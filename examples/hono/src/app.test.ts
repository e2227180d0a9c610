import { createAdaptorServer } from '@hono/node-server';
import { overHttp } from '@tollgate/core/testing';
import { createLimiter } from '@tollgate/hono';
import type { Server } from 'node:http';
import { describeExample } from '../../describe-example.ts';
import { createApp } from './app.ts';

describeExample('hono', () => {
  const app = createApp(createLimiter({ onWarning: () => {} }));
  return overHttp(createAdaptorServer({ fetch: app.fetch }) as Server);
});
