import { connect, createServer, type Server, type Socket } from 'node:net';

/** Takes the place of a server: accepts every connection, and never says anything. */
export async function startSilence(port: number): Promise<{ stop(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => keep(sockets, socket));
  await listen(server, port);
  return { stop: () => end(server, sockets) };
}

/** A network between a client and a server. */
export interface Network {
  readonly port: number;
  /** From now on, what a server says takes so long to arrive, ms. */
  delay(ms: number): void;
  /** From now on, or no longer, a connection breaks when a server answers, before the answer arrives. */
  cut(isCut: boolean): void;
  /** From now on, what goes over the connections that there are is lost, and nobody hears of it. New ones are all right. */
  loseConnections(): void;
  stop(): Promise<void>;
}

export async function startNetwork(target: number): Promise<Network> {
  const sockets = new Set<Socket>();
  let delayMs = 0;
  let isCut = false;
  let lostBefore = 0;
  let made = 0;
  const server = createServer((client) => {
    const number = ++made;
    const isLost = (): boolean => number <= lostBefore;
    const upstream = connect(target, '127.0.0.1');
    keep(sockets, client);
    keep(sockets, upstream);
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => isLost() || client.destroy());
    client.on('data', (chunk) => isLost() || upstream.write(chunk));
    upstream.on('data', (chunk) => {
      const arrive = (): unknown => isLost() || !client.writable || client.write(chunk);
      if (isCut) client.destroy();
      else if (delayMs === 0) arrive();
      else setTimeout(arrive, delayMs);
    });
  });
  await listen(server, 0);
  return {
    port: (server.address() as { port: number }).port,
    delay: (ms) => void (delayMs = ms),
    cut: (now) => void (isCut = now),
    loseConnections: () => void (lostBefore = made),
    stop: () => end(server, sockets),
  };
}

function keep(sockets: Set<Socket>, socket: Socket): void {
  sockets.add(socket);
  socket.on('error', () => {}).on('close', () => sockets.delete(socket));
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
}

function end(server: Server, sockets: Iterable<Socket>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    for (const socket of sockets) socket.destroy();
  });
}
