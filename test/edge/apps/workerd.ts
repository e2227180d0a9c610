import { createApp } from './app.ts';

declare const WebSocketPair: new () => Record<0 | 1, WebSocket & { accept(): void }>;

export default createApp({}, () => {
  const { 0: client, 1: server } = new WebSocketPair();
  server.accept();
  server.addEventListener('message', ({ data }) => server.send(data as string));
  return new Response(null, { status: 101, webSocket: client } as ResponseInit);
});
