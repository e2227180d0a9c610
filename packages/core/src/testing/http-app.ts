import type { Server } from 'node:http';
import type { ServerHttp2Session } from 'node:http2';

/** A running application that answers web requests. */
export interface RunningApp {
  /** Where it listens, for requests that `fetch` cannot make. */
  readonly url: string;
  fetch(request: Request): Promise<Response>;
  /** Takes no more connections, and waits for the requests in flight. */
  drain(): Promise<void>;
  /** Ends it, requests in flight and all. */
  close(): Promise<void>;
}

/**
 * Lets a real server on a free loopback port answer requests for any host. One of HTTP/2 does as well, except for `fetch`.
 * @param drain how the framework itself is closed; default: its server is
 */
export async function overHttp(server: Server, drain?: () => Promise<unknown>): Promise<RunningApp> {
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session: ServerHttp2Session) => sessions.add(session));
  if (!server.listening) {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
  }
  const { port } = server.address() as { port: number };
  const url = `http://127.0.0.1:${port}`;
  const closeServer = (): Promise<void> => new Promise((resolve) => void server.close(() => resolve()));
  return {
    url,
    fetch(request) {
      const { pathname, search } = new URL(request.url);
      return fetch(new Request(`${url}${pathname}${search}`, request));
    },
    drain: async () => void (await (drain ?? closeServer)()),
    close() {
      const closed = closeServer();
      // A server of HTTP/2 has sessions in their place.
      if ('closeAllConnections' in server) server.closeAllConnections();
      for (const session of sessions) session.destroy();
      return closed;
    },
  };
}
