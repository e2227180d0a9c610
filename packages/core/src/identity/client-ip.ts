import ipaddr from 'ipaddr.js';
import { memoize } from './memoize.ts';

/** A client's address, canonical: every spelling of one address, and every address of one prefix, gives the same value. */
export interface ClientAddress {
  /** Who shares a counter: IPv4 whole, IPv6 to its /64, the smallest usual assignment; `unknown` when there is no address. */
  readonly client: string;
  /** Who shares the backstop and the hash tag: IPv4 whole, IPv6 to its /48, what one site can be given to rotate through. */
  readonly site: string;
}

/** Everybody whose address is missing or unparsable shares one counter: fail closed, and never key on garbage. */
export const UNKNOWN_ADDRESS: ClientAddress = { client: 'unknown', site: 'unknown' };

const CACHE_SIZE = 10_000;

/** Canonicalises addresses behind a bounded cache: parsing costs more than the rest of a decision in memory. */
export function createAddressParser(): (raw: unknown) => ClientAddress {
  const parse = memoize(parseAddress, CACHE_SIZE);
  // Nothing that is an address is longer, with port, zone and all; parsing what is would be work for an attacker.
  return (raw) => (typeof raw !== 'string' || raw.length > 100 ? UNKNOWN_ADDRESS : parse(raw));
}

/**
 * Frameworks answer whatever a trusted hop wrote: `203.0.113.7:5678` (Azure), `"[2001:db8::1]:443"` (RFC 7239),
 * `unknown`. Ports, quotes, brackets and zones are taken off; what is then no address is unknown, never a key.
 */
export function parseAddress(raw: string): ClientAddress {
  const text = bareAddress(raw.trim());
  // Only the dotted form without leading zeros: `010.0.0.1` is 8.0.0.1 to some parsers and 10.0.0.1 to others.
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return whole(text);
  if (!text.includes(':') || !ipaddr.IPv6.isValid(text)) return UNKNOWN_ADDRESS;
  const dotted = text.slice(text.lastIndexOf(':') + 1);
  if (dotted.includes('.') && !ipaddr.IPv4.isValidFourPartDecimal(dotted)) return UNKNOWN_ADDRESS;
  const address = ipaddr.IPv6.parse(text);
  // Mapped addresses by bits, before any mask: masking first puts every IPv4 client into one prefix (CVE-2026-30827),
  // not mapping gives each client a second budget (GHSA-5847-rm3g-23mw).
  if (address.isIPv4MappedAddress()) return whole(address.toIPv4Address().toString());
  return { client: prefixOf(address, 64), site: prefixOf(address, 48) };
}

function bareAddress(text: string): string {
  const quoted = /^"(.*)"$/.exec(text);
  if (quoted !== null) return bareAddress(quoted[1] ?? '');
  const withPort = /^\[([^\]]*)\](?::(\d{1,5}))?$/.exec(text) ?? /^([^:]*):(\d{1,5})$/.exec(text);
  if (Number(withPort?.[2] ?? 0) > 65_535) return '';
  return (withPort?.[1] ?? text).replace(/%.*$/, '');
}

function whole(ipv4: string): ClientAddress {
  return { client: ipv4, site: ipv4 };
}

function prefixOf(address: ipaddr.IPv6, bits: number): string {
  const parts = address.parts.map((part, i) => (i * 16 < bits ? part : 0));
  return `${new ipaddr.IPv6(parts).toString()}/${bits}`;
}
