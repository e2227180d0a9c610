import type { RequestContext } from '../context.ts';
import { type ClientAddress, UNKNOWN_ADDRESS } from './client-ip.ts';

/**
 * Who is calling, by the first link that answers: `user`, then `apiKey`, then `ip+ua`. Its `token` is bounded and safe
 * in a key. An identity that is not verified is under the client's control: it can have as many as it likes.
 */
export interface Identity {
  readonly kind: 'user' | 'apiKey' | 'ip+ua';
  readonly token: string;
  readonly verified: boolean;
}

/** The application's own answer to who is calling. */
export interface IdentifiedUser {
  readonly id: string | number | bigint;
  /** Whether the application proved it (a session, a signature); default true. Unverified users get the backstop. */
  readonly verified?: boolean;
}

/** What `identify` answers: a user, or only an id, which then counts as verified. */
export type Identified = IdentifiedUser | IdentifiedUser['id'] | null | undefined;

/** What is known of the caller of one request. The identity was resolved when the request came in. */
export interface Caller {
  readonly identity: Identity;
  readonly user: string | undefined;
  /** Whether somebody proved that it is that user. */
  readonly isVerified: boolean;
  /** The id that the application's `identify` answered, if it was one. */
  readonly claimed: string | undefined;
  readonly apiKey: string | undefined;
  /** The key as it was sent. It must not leave the process. */
  readonly presented: string | undefined;
  readonly address: ClientAddress;
}

/** Makes the chain user → API key → client address + user agent. */
export function createCallerResolver(
  hash: (value: string) => string,
  addressOf: (raw: unknown) => ClientAddress,
): (ctx: RequestContext, identified: Identified, ip?: unknown) => Caller {
  return function toCaller(ctx, identified, ip = readIp(ctx)) {
    // What the framework or the application says may be anything, and may throw: it is then no address and no user.
    const address = addressOf(ip);
    const claimed =
      typeof identified === 'object' ? identified : identified === undefined ? undefined : { id: identified };
    const own = attempt(() => userId(claimed?.id));
    const id = own ?? attempt(() => userId(ctx.user));
    // Whoever answers only with `verified: false`, without an id, has said nothing about the framework's user.
    const verified = own === undefined || attempt(() => claimed?.verified !== false) === true;
    const presented = apiKeyOf(ctx);
    const user = id === undefined ? undefined : userToken(id, verified, presented, hash);
    // Never raw: a key in Redis shows in MONITOR, SLOWLOG and every dump.
    const apiKey = presented === undefined ? undefined : `k~${hash(presented)}`;
    let identity: Identity;
    if (user !== undefined) identity = { kind: 'user', token: user, verified };
    else if (apiKey !== undefined) identity = { kind: 'apiKey', token: apiKey, verified: false };
    // Without an address there is nothing to bound a user agent by: such clients share one counter.
    else if (address === UNKNOWN_ADDRESS) identity = { kind: 'ip+ua', token: 'unknown', verified: false };
    else
      identity = { kind: 'ip+ua', token: `${address.client},${hash(ctx.header('user-agent') ?? '')}`, verified: false };
    return { identity, user, isVerified: verified, claimed: own, apiKey, presented, address };
  };
}

/** The client's address as the framework says it: to be read before anything is waited for, because a closed socket has none. */
export function readIp(ctx: RequestContext): unknown {
  return attempt(() => ctx.ip);
}

/** Whether the framework knows a user by now. */
export function isNamed(ctx: RequestContext): boolean {
  return attempt(() => userId(ctx.user)) !== undefined;
}

/** Apart from verified ones: who only claims to be somebody must not use up their budget (CVE-2026-134807). */
function userToken(
  id: string,
  verified: boolean,
  presented: string | undefined,
  hash: (value: string) => string,
): string {
  const kind = verified ? 'u' : 'claim';
  return id === presented ? hashedToken(kind, id, hash) : token(kind, id, hash);
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** An id out of what frameworks and authentication libraries put on a request; undefined when there is none. */
export function userId(user: unknown): string | undefined {
  if (typeof user === 'string') return user === '' ? undefined : user;
  if (typeof user === 'number') return Number.isFinite(user) ? String(user) : undefined;
  if (typeof user === 'bigint') return String(user);
  if (typeof user !== 'object' || user === null) return undefined;
  const { id, sub } = user as { id?: unknown; sub?: unknown };
  return typeof id === 'object' ? userId(sub) : (userId(id) ?? userId(sub));
}

/** The presented API key: `x-api-key`, or a bearer token that is no JWT, signed or encrypted (those change with each refresh). */
function apiKeyOf(ctx: RequestContext): string | undefined {
  const key = ctx.header('x-api-key');
  if (key !== undefined && key !== '') return key;
  const bearer = /^bearer +([^\s]+)$/i.exec(ctx.header('authorization') ?? '')?.[1];
  return bearer === undefined || /^eyJ[\w-]*(?:\.[\w-]*){2}(?:(?:\.[\w-]*){2})?$/.test(bearer) ? undefined : bearer;
}

/** A value that the caller may choose, made safe: short plain ids stay readable, everything else is hashed. */
export function token(kind: string, value: string, hash: (value: string) => string): string {
  return /^[\w.-]{1,40}$/.test(value) ? `${kind}.${value}` : hashedToken(kind, value, hash);
}

/** Of what may be a secret: an API key that serves as an id, a password that was typed where the name belongs. */
export function hashedToken(kind: string, value: string, hash: (value: string) => string): string {
  return `${kind}~${hash(value)}`;
}
