import { connect } from 'node:net';

/** A connection on which a case writes bytes of its own, because no HTTP client would send them so. */
export interface Connection {
  write(bytes: string | Uint8Array): void;
  /** Waits for what was received to match, and gives all of it; rejects when the connection ends before. */
  until(pattern: RegExp): Promise<string>;
  /** All that was received, when the server has ended the connection. */
  ended(): Promise<string>;
  /** Says that nothing more will be written, and goes on reading. */
  finish(): void;
  /** Goes away at once, when what was written is sent. */
  leave(): void;
}

export function openConnection(url: string): Connection {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let received = '';
  let isClosed = false;
  const closed = new Promise<void>((resolve) => socket.once('close', resolve));
  const watchers = new Set<() => void>();
  const tell = (): void => watchers.forEach((watch) => watch());
  // One character for each byte: HTTP/2 frames are looked at as well.
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    received += chunk;
    tell();
  });
  // A server that ends a connection with unread bytes resets it.
  socket.on('error', () => {});
  void closed.then(() => {
    isClosed = true;
    tell();
  });
  return {
    write: (bytes) => void socket.write(bytes),
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const watch = (): void => {
          if (!pattern.test(received) && !isClosed) return;
          watchers.delete(watch);
          if (pattern.test(received)) resolve(received);
          else reject(new Error(`The connection ended before ${pattern}: ${JSON.stringify(received)}`));
        };
        watchers.add(watch);
        watch();
      }),
    ended: async () => {
      await closed;
      return received;
    },
    finish: () => void socket.end(),
    leave: () => socket.destroySoon(),
  };
}

/** A request as it is written, kept-alive; header lines as `name: value`. */
export function requestText(target: string, lines: readonly string[] = [], body = ''): string {
  const all = ['Host: example.test', 'User-Agent: suite', ...lines];
  if (body !== '') all.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`);
  return `${target} HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n${body}`;
}

/** Writes everything at once; the last request has to ask for the end of the connection. */
export async function exchange(url: string, ...requests: readonly string[]): Promise<string> {
  const connection = openConnection(url);
  connection.write(requests.join(''));
  return connection.ended();
}

/** The statuses of all responses on a connection, in order. */
export function statusesOf(received: string): number[] {
  return [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

/** The values of a field on all responses of a connection, in order. */
export function fieldsOf(received: string, name: string): string[] {
  return [...received.matchAll(new RegExp(`^${name}: (.*)\r$`, 'gim'))].map(([, value]) => String(value));
}
