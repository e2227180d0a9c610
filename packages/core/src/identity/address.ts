import ipaddr from 'ipaddr.js';

/** An address and, for link-local IPv6, the interface that it belongs to. */
export interface Address {
  readonly ip: ipaddr.IPv4 | ipaddr.IPv6;
  readonly zone: string | undefined;
}

/** Nothing that is an address is longer, with port, zone and all; parsing what is would be work for an attacker. */
const MAX_LENGTH = 100;

/**
 * Reads an address as frameworks and proxies write it: `203.0.113.7:5678` (Azure), `"[2001:db8::1]:443"` (RFC 7239).
 * Quotes, brackets and ports are taken off; a mapped IPv4 address is the IPv4 address, in all its spellings.
 * @returns undefined for anything else: `unknown`, garbage, and what parsers disagree about
 */
export function parseAddress(raw: string): Address | undefined {
  if (raw.length > MAX_LENGTH) return undefined;
  const [text = '', zone] = withoutPort(raw.trim().replace(/^"(.*)"$/, '$1')).split('%', 2);
  // Only the dotted form without leading zeros: `010.0.0.1` is 8.0.0.1 to some parsers and 10.0.0.1 to others.
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return { ip: ipaddr.IPv4.parse(text), zone: undefined };
  const dotted = text.slice(text.lastIndexOf(':') + 1);
  if (!text.includes(':') || (dotted.includes('.') && !ipaddr.IPv4.isValidFourPartDecimal(dotted))) return undefined;
  // ipaddr.js takes `::1.2.3.4` for the mapped `::ffff:1.2.3.4`, and its other spelling `::102:304` for what it is.
  const plain = text.replace(/^::(?=\d+\.)/, '0::');
  if (!ipaddr.IPv6.isValid(plain)) return undefined;
  const ip = ipaddr.IPv6.parse(plain);
  // By bits, before any mask: masking first puts every IPv4 client into one prefix (CVE-2026-30827), not mapping gives
  // each client a second budget (GHSA-5847-rm3g-23mw).
  return ip.isIPv4MappedAddress() ? { ip: ip.toIPv4Address(), zone: undefined } : { ip, zone };
}

function withoutPort(text: string): string {
  const match = /^\[([^\]]*)\](?::(\d{1,5}|_[\w.-]+))?$/.exec(text) ?? /^([^:]*):(\d{1,5}|_[\w.-]+)$/.exec(text);
  if (Number(match?.[2] ?? 0) > 65_535) return '';
  return match?.[1] ?? text;
}

/** Whether nobody on the internet has this address: a proxy's, more likely than a client's. */
export function isPrivate({ ip }: Address): boolean {
  return PRIVATE.has(ip.range());
}

const PRIVATE: ReadonlySet<string> = new Set([
  'private',
  'loopback',
  'linkLocal',
  'uniqueLocal',
  'carrierGradeNat',
  'unspecified',
]);
