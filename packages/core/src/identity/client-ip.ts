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
  if (address.ip instanceof ipaddr.IPv4) {
    const whole = address.ip.toString();
    return { client: whole, site: whole, isPrivate: local };
  }
  return { client: prefixOf(address.ip, 64), site: prefixOf(address.ip, 48), isPrivate: local };
}

function prefixOf(ip: ipaddr.IPv6, bits: number): string {
  const parts = ip.parts.map((part, i) => (i * 16 < bits ? part : 0));
  return `${new ipaddr.IPv6(parts).toString()}/${bits}`;
}
