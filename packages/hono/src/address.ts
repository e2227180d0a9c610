import { checkFunction, type ClientIpOptions, ConfigError, createClientIp } from '@tollgate/core';
import type { Context } from 'hono';

export interface AddressOptions extends ClientIpOptions {
  /**
   * The client's address, where the platform tells it in a way of its own; in place of `trustProxy` and `header`.
   * Default: the peer of the connection on Node, Bun and Deno, or what a trusted peer says; on Cloudflare Workers
   * `cf-connecting-ip`.
   */
  readonly clientIp?: (c: Context) => string | undefined;
}

/** @throws ConfigError when an option is wrong, or would not be asked */
export function clientIpOf({ clientIp, ...trust }: AddressOptions): (c: Context) => string | undefined {
  if (clientIp === undefined) {
    const fromPeer = createClientIp(trust, 'rateLimit');
    return (c) => fromPeer(addressOf(c), (name) => c.req.header(name));
  }
  checkFunction('rateLimit.clientIp', clientIp);
  for (const name of ['trustProxy', 'header'] as const) {
    if (trust[name] === undefined) continue;
    throw new ConfigError(
      'invalid-option',
      `rateLimit.${name}`,
      `rateLimit.${name} must be left out beside clientIp, which would be asked in its place.`,
    );
  }
  return clientIp;
}

/** What `fetch(request, env)` is handed on Node (`@hono/node-server`), Bun and Deno, by their own servers. */
interface ServerEnv {
  /** Where the application hands on more than the server. */
  readonly server?: ServerEnv;
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } };
  requestIP?(request: Request): { readonly address: string } | null;
  readonly remoteAddr?: { readonly hostname?: string };
}

/** The other end of the connection; undefined where the runtime does not tell, as on Workers. */
export function peerOf(c: Context): string | undefined {
  if (onWorkers()) return undefined;
  const env = (c.env ?? {}) as ServerEnv;
  const server = env.server ?? env;
  if (server.incoming !== undefined) return server.incoming.socket?.remoteAddress;
  if (server.requestIP !== undefined) return server.requestIP(c.req.raw)?.address;
  return server.remoteAddr?.hostname;
}

/** Who is connected, as far as the platform says so itself. */
function addressOf(c: Context): string | undefined {
  return onWorkers() ? c.req.header('cf-connecting-ip') : peerOf(c);
}

/**
 * Only on Cloudflare Workers nobody but the platform sets `cf-connecting-ip`; on any other runtime it is a header like all
 * others, which a client may send. That it is there proves nothing, and neither does what the environment is like: both
 * can be had elsewhere.
 */
function onWorkers(): boolean {
  const { navigator } = globalThis as { readonly navigator?: { readonly userAgent?: string } };
  return navigator?.userAgent === 'Cloudflare-Workers';
}
