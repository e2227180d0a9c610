import { overHttp } from '@tollgate/core/testing';
import type { Server } from 'node:http';
import { describeExample } from '../../describe-example.ts';
import { createApp } from './app.ts';

describeExample('nestjs', async () => {
  const app = await createApp();
  await app.init();
  return overHttp(app.getHttpServer() as Server);
});
