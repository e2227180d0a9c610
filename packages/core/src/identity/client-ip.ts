import ipaddr from 'ipaddr.js';
import { isPrivate, parseAddress } from './address.ts';
import { memoize } from './memoize.ts';

/** A client's address, canonical: every spelling of one address, and every address of one prefix, gives the same value. */
export interface ClientAddress {
  /** Who shares a counter: IPv4 whole, IPv6 to its /64, the smallest usual assignment; `unknown` when there is no address. */
  readonly client: string;
  /** Who shares the backstop and the hash tag: IPv4 whole, IPv6 to its /48, what one site can be given to rotate through. */
  readonly site: string;
  /** Whether nobody on the internet has this address. */
  readonly isPrivate: boolean;
}

/** Everybody whose address is missing or unparsable shares one counter: fail closed, and never key on garbage. */
export const UNKNOWN_ADDRESS: ClientAddress = { client: 'unknown', site: 'unknown', isPrivate: false };

/** How a server without IPv4 sees IPv4 clients (NAT64, RFC 6052; SIIT, RFC 2765): under a mask they would all be one. */
const TRANSLATED = [ipaddr.IPv6.parse('64:ff9b::'), ipaddr.IPv6.parse('::ffff:0:0:0')];

const CACHE_SIZE = 10_000;

/** Canonicalises addresses behind a bounded cache: parsing costs more than the rest of a decision in memory. */
export function createAddressParser(): (raw: unknown) => ClientAddress {
  const toKnown = memoize(toClientAddress, CACHE_SIZE);
  return (raw) => (typeof raw === 'string' ? toKnown(raw) : UNKNOWN_ADDRESS);
}

export function toClientAddress(raw: string): ClientAddress {
  const address = parseAddress(raw);
  if (address === undefined) return UNKNOWN_ADDRESS;
  const local = isPrivate(address);
  const ip = withoutTranslation(address.ip);
  if (ip instanceof ipaddr.IPv4) {
    const whole = ip.toString();
    return { client: whole, site: whole, isPrivate: local };
  }
  return { client: prefixOf(ip, 64), site: prefixOf(ip, 48), isPrivate: local };
}

function withoutTranslation(ip: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  if (ip instanceof ipaddr.IPv4 || !TRANSLATED.some((prefix) => ip.match(prefix, 96))) return ip;
  return new ipaddr.IPv4(ip.toByteArray().slice(12));
}

function prefixOf(ip: ipaddr.IPv6, bits: number): string {
  const parts = ip.parts.map((part, i) => (i * 16 < bits ? part : 0));
  return `${new ipaddr.IPv6(parts).toString()}/${bits}`;
}
