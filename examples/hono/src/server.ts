import { serve } from '@hono/node-server';
import { createApp } from './app.ts';

const port = Number(process.env['PORT'] ?? 3000);
const { fetch } = createApp();
serve({ fetch, port }, () => {
  console.log(`Try: curl -i http://localhost:${port}/`);
});
