import { createApp } from './app.ts';

const port = Number(process.env['PORT'] ?? 3000);
const app = await createApp();
await app.listen({ port });
console.log(`Try: curl -i http://localhost:${port}/`);
