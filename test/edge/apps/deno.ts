import { createApp } from './app.ts';

declare const Deno: {
  /** Says where it listens. */
  serve(options: { hostname: string; port: number }, fetch: (request: Request, info: object) => unknown): void;
  upgradeWebSocket(request: Request): { readonly socket: WebSocket; readonly response: Response };
};

const app = createApp({ trustProxy: 'loopback' }, (c) => {
  const { socket, response } = Deno.upgradeWebSocket(c.req.raw);
  socket.addEventListener('message', ({ data }) => socket.send(data as string));
  return response;
});

Deno.serve({ hostname: '127.0.0.1', port: 0 }, app.fetch);
