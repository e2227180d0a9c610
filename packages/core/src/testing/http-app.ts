import type { Server } from 'node:http';

/** A running application that answers web requests. */
export interface RunningApp {
  /** Where it listens, for requests that `fetch` cannot make. */
  readonly url: string;
  fetch(request: Request): Promise<Response>;
  close(): Promise<void>;
}

/** Lets a real server on a free loopback port answer requests for any host. */
export async function overHttp(server: Server): Promise<RunningApp> {
  if (!server.listening) {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
  }
  const { port } = server.address() as { port: number };
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    fetch(request) {
      const { pathname, search } = new URL(request.url);
      return fetch(new Request(`${url}${pathname}${search}`, request));
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
