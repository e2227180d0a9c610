import ipaddr from 'ipaddr.js';
import { checkInteger, checkOptions, invalid } from '../options.ts';
import { type Address, parseAddress } from './address.ts';
import { parseForwarded } from './forwarded.ts';

/**
 * Which hops may say where a request came from: addresses and CIDRs, `loopback`, `linklocal`, `uniquelocal` (private
 * networks); or a number of hops, which is only safe where nobody reaches the server but through them, as on a Unix
 * socket, whose connections have no address.
 */
export type TrustProxy = string | readonly string[] | { readonly hops: number; readonly originUnreachable: true };

export interface ClientIpOptions {
  /** Default: nobody is trusted, and the client is the peer of the connection. */
  readonly trustProxy?: TrustProxy;
  /**
   * The one header that is read, and only from a trusted peer: `x-forwarded-for` (default), `forwarded` (RFC 7239), or
   * one that holds a single address, such as `cf-connecting-ip`. Never "the first that exists": a client adds the others.
   */
  readonly header?: string;
}

/** Reads a request header by its lower-case name. */
type Header = (name: string) => string | undefined;

interface Network extends Address {
  readonly bits: number;
}

const NAMED: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['loopback', ['127.0.0.0/8', '::1/128']],
  ['linklocal', ['169.254.0.0/16', 'fe80::/10']],
  ['uniquelocal', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']],
]);

/** More hops than any real chain has; a longer header is somebody's attempt to make parsing expensive. */
const MAX_ENTRIES = 64;

/**
 * Makes the function that finds a request's client, for frameworks that have no trust setting of their own.
 * @param where how the option is called in errors
 * @throws ConfigError when the trust is wrong or would trust everybody
 */
export function createClientIp(
  { trustProxy, header: given }: ClientIpOptions,
  where: string,
): (peer: string | undefined, read: Header) => string | undefined {
  const header: unknown = given === undefined ? 'x-forwarded-for' : given;
  if (typeof header !== 'string' || !/^[a-z\d-]{1,64}$/.test(header))
    invalid(`${where}.header`, 'a header name in lower case', header);
  if (trustProxy === undefined) {
    // Whoever names the header means it to be read.
    if (given !== undefined) invalid(`${where}.header`, 'left out unless trustProxy says who may send it', given);
    return (peer) => peer;
  }
  const trusts = compileTrust(trustProxy, `${where}.trustProxy`);

  return function clientIp(peer, read) {
    // A peer without an address (a Unix socket) is known by no list; a promised number of hops includes it.
    if (!trusts(peer ?? '', 0)) return peer;
    const value = read(header);
    if (value === undefined || value.trim() === '') return peer;
    const hops = listHops(header, value);
    // What cannot be read is no client: it ends in the one strict partition of unknown addresses.
    if (hops === undefined) return '';
    // From the right, where the nearest hop wrote: everything to the left of the first untrusted one is the client's word.
    for (let i = hops.length - 1; i >= 0; i--) {
      const hop = hops[i] as string;
      if (i === 0 || !trusts(hop, hops.length - i)) return hop;
    }
    return peer;
  };
}

/** The addresses in a header, first to last. */
function listHops(header: string, value: string): readonly string[] | undefined {
  if (header === 'forwarded') return parseForwarded(value)?.slice(-MAX_ENTRIES);
  if (header !== 'x-forwarded-for') return [value];
  return value
    .split(',')
    .slice(-MAX_ENTRIES)
    .map((entry) => entry.trim());
}

/** Whether a hop is trusted: by its address, or by its distance (the peer is 0). */
function compileTrust(trust: TrustProxy, option: string): (hop: string, distance: number) => boolean {
  if (typeof trust === 'object' && !Array.isArray(trust)) {
    checkOptions(option, trust, ['hops', 'originUnreachable']);
    const { hops, originUnreachable } = trust as { hops: unknown; originUnreachable: unknown };
    const count = checkInteger(`${option}.hops`, hops, 1, MAX_ENTRIES);
    // Whoever reaches the server directly chooses the client's address, since hops are trusted unseen.
    if (originUnreachable !== true) {
      invalid(
        `${option}.originUnreachable`,
        'true, which says that nobody reaches the server but through these hops',
        originUnreachable,
      );
    }
    return (_, distance) => distance < count;
  }
  const listed: unknown = typeof trust === 'string' ? trust.split(',').map((entry) => entry.trim()) : trust;
  // Spread, because flatMap would jump over a hole.
  const entries: readonly unknown[] = Array.isArray(listed) ? [...(listed as unknown[])] : [];
  if (entries.length === 0) invalid(option, 'addresses, CIDRs, or { hops, originUnreachable: true }', trust);
  const networks = entries
    .flatMap<unknown>((entry) => NAMED.get(entry) ?? [entry])
    .map((entry) => toNetwork(entry, option));
  return (hop) => {
    const parsed = parseAddress(hop);
    return parsed !== undefined && networks.some((network) => contains(network, parsed));
  };
}

function toNetwork(entry: unknown, option: string): Network {
  const rule = 'addresses, CIDRs with a prefix above 0, loopback, linklocal or uniquelocal';
  const [, text = '', bitsText] = /^([^/"[\]]+)(?:\/(\d{1,3}))?$/.exec(typeof entry === 'string' ? entry : '') ?? [];
  const address = parseAddress(text);
  if (address === undefined) return invalid(option, rule, entry);
  // A header's address may have a port, or a zone that says nothing; whoever configures one means something by it.
  const extra = address.ip instanceof ipaddr.IPv4 ? /%|^\d+\.[\d.]*:/ : /%(?:$|.*%)/;
  if (extra.test(text)) return invalid(option, rule, entry);
  // parseAddress has turned a mapped address into IPv4. Its prefix counts from the mapped form's 128 bits:
  // `::ffff:10.0.0.0/8` would trust all of IPv4 (CVE-2026-90711).
  const mapped = address.ip instanceof ipaddr.IPv4 && text.includes(':');
  const most = address.ip instanceof ipaddr.IPv4 ? 32 : 128;
  const bits = bitsText === undefined ? most : Number(bitsText) - (mapped ? 96 : 0);
  if (bits < 1 || bits > most)
    return invalid(option, mapped ? 'CIDRs of mapped addresses with a prefix above 96' : rule, entry);
  return { ...address, bits };
}

function contains({ ip, zone, bits }: Network, hop: Address): boolean {
  // An interface that is named must be that one: fe80::1 on another link is another machine (CVE-2026-121192).
  if (zone !== undefined && zone !== hop.zone) return false;
  if (ip instanceof ipaddr.IPv4) return hop.ip instanceof ipaddr.IPv4 && hop.ip.match(ip, bits);
  return hop.ip instanceof ipaddr.IPv6 && hop.ip.match(ip, bits);
}
