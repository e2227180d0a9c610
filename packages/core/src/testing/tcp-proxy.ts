import { connect, createServer, type Socket } from 'node:net';

/** Stands between a client and a server, to do what networks do. */
export interface TcpProxy {
  readonly port: number;
  /** From now on: passes everything, swallows what the server answers, or cuts each connection when the server answers. */
  set(mode: 'pass' | 'swallow' | 'cut'): void;
  stop(): Promise<void>;
}

export async function startTcpProxy(target: number): Promise<TcpProxy> {
  const state: { mode: 'pass' | 'swallow' | 'cut' } = { mode: 'pass' };
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(socket);
          client.destroy();
          upstream.destroy();
        });
    }
    client.pipe(upstream);
    upstream.on('data', (chunk: Buffer) => {
      if (state.mode === 'pass') client.write(chunk);
      else if (state.mode === 'cut') client.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as { port: number }).port,
    set: (mode) => void (state.mode = mode),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
