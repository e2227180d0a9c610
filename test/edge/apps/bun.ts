import { createApp } from './app.ts';

interface BunServer {
  readonly url: URL;
  upgrade(request: Request): boolean;
}
interface BunSocket {
  send(message: string): void;
}
declare const Bun: {
  serve(options: {
    hostname: string;
    port: number;
    fetch(request: Request, server: BunServer): Response | Promise<Response>;
    websocket: { message(socket: BunSocket, message: string): void };
  }): BunServer;
};

const app = createApp({ trustProxy: 'loopback' }, (c) => {
  (c.env as BunServer).upgrade(c.req.raw);
  return c.body(null);
});

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: (request, bun) => app.fetch(request, bun),
  websocket: { message: (socket, message) => socket.send(message) },
});
console.log(`Listening on ${server.url.href}`);
