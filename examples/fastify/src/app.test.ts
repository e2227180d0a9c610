import { overHttp } from '@tollgate/core/testing';
import { describeExample } from '../../describe-example.ts';
import { createApp } from './app.ts';

describeExample('fastify', async () => {
  const app = await createApp();
  await app.listen({ port: 0, host: '127.0.0.1' });
  return overHttp(app.server);
});
