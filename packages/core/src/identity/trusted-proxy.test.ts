import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toClientAddress } from './client-ip.ts';
import { type ClientIpOptions, createClientIp, type TrustProxy } from './trusted-proxy.ts';

/** Who the client is, canonical, when `peer` connects with these headers. */
function clientOf(options: ClientIpOptions, peer: string | undefined, headers: Record<string, string> = {}): string {
  const ip = createClientIp(options, 'test')(peer, (name) => headers[name]);
  return ip === undefined ? 'no address' : toClientAddress(ip).client;
}

const xff = (value: string): Record<string, string> => ({ 'x-forwarded-for': value });
const promised = (hops: number): TrustProxy => ({ hops, originUnreachable: true });

describe('X-Forwarded-For', () => {
  it.each<[trust: TrustProxy | undefined, peer: string, header: string, client: string]>([
    // Nobody is trusted: whatever a header says.
    [undefined, '127.0.0.1', '6.6.6.6', '127.0.0.1'],
    [undefined, '203.0.113.7', '6.6.6.6', '203.0.113.7'],
    // A peer that is not trusted.
    ['loopback', '203.0.113.7', '6.6.6.6', '203.0.113.7'],
    ['10.0.0.0/8', '11.0.0.1', '6.6.6.6', '11.0.0.1'],
    ['10.0.0.1', '10.0.0.2', '6.6.6.6', '10.0.0.2'],
    ['loopback', '::ffff:203.0.113.7', '6.6.6.6', '203.0.113.7'],
    // One hop: the last entry, whatever is left of it.
    ['loopback', '127.0.0.1', '1.2.3.4', '1.2.3.4'],
    ['loopback', '127.0.0.1', '6.6.6.6, 1.2.3.4', '1.2.3.4'],
    ['loopback', '127.0.0.1', '127.0.0.1, 1.2.3.4', '1.2.3.4'],
    ['loopback', '127.0.0.1', 'garbage, 1.2.3.4', '1.2.3.4'],
    ['loopback', '127.0.0.1', ',,,1.2.3.4', '1.2.3.4'],
    ['loopback', '127.0.0.1', '"6.6.6.6, 1.2.3.4', '1.2.3.4'],
    ['loopback', '127.0.0.1', '6.6.6.6,1.2.3.4', '1.2.3.4'],
    ['loopback', '127.0.0.1', '  6.6.6.6 ,\t 1.2.3.4\t', '1.2.3.4'],
    ['loopback', '127.255.255.254', '1.2.3.4', '1.2.3.4'],
    ['loopback', '::1', '1.2.3.4', '1.2.3.4'],
    // A dual-stack server sees its IPv4 peers mapped.
    ['loopback', '::ffff:127.0.0.1', '1.2.3.4', '1.2.3.4'],
    ['loopback', '::FFFF:7f00:1', '1.2.3.4', '1.2.3.4'],
    ['loopback', '0:0:0:0:0:ffff:127.0.0.1', '1.2.3.4', '1.2.3.4'],
    ['127.0.0.1', '::ffff:127.0.0.1', '1.2.3.4', '1.2.3.4'],
    ['::ffff:127.0.0.1', '127.0.0.1', '1.2.3.4', '1.2.3.4'],
    ['::ffff:7f00:1', '127.0.0.1', '1.2.3.4', '1.2.3.4'],
    // Several trusted hops, in one header.
    ['10.0.0.0/8', '10.0.0.1', '6.6.6.6, 1.2.3.4, 10.0.0.2', '1.2.3.4'],
    ['10.0.0.0/8', '10.0.0.1', '6.6.6.6, 1.2.3.4, 10.1.1.1, 10.2.2.2', '1.2.3.4'],
    ['10.0.0.0/8', '10.0.0.1', '6.6.6.6, 10.9.9.9, 1.2.3.4, 10.0.0.2', '1.2.3.4'],
    ['10.0.0.0/8', '10.0.0.1', '1.2.3.4, ::ffff:10.0.0.2', '1.2.3.4'],
    ['10.0.0.0/8', '10.0.0.1', '1.2.3.4, 10.0.0.2:4711', '1.2.3.4'],
    ['10.0.0.0/8', '10.0.0.1', '1.2.3.4:4711, "10.0.0.2"', '1.2.3.4'],
    // All of them are trusted: the one that is farthest away, as proxy-addr has it.
    ['10.0.0.0/8', '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['loopback', '127.0.0.1', '127.0.0.1', '127.0.0.1'],
    // No header, or an empty one.
    ['loopback', '127.0.0.1', '', '127.0.0.1'],
    ['loopback', '127.0.0.1', '   ', '127.0.0.1'],
    // What cannot be read is a hop: nothing beyond it is believed, and it is nobody.
    ['loopback', '127.0.0.1', '1.2.3.4, garbage', 'unknown'],
    ['loopback', '127.0.0.1', '1.2.3.4, ', 'unknown'],
    ['loopback', '127.0.0.1', ',', 'unknown'],
    ['loopback', '127.0.0.1', 'unknown', 'unknown'],
    ['loopback', '127.0.0.1', '_hidden', 'unknown'],
    ['loopback', '127.0.0.1', '010.0.0.1', 'unknown'],
    ['loopback', '127.0.0.1', '0x7f.1', 'unknown'],
    ['loopback', '127.0.0.1', '1.2.3', 'unknown'],
    ['loopback', '127.0.0.1', '1.2.3.4; 5.6.7.8', 'unknown'],
    ['loopback', '127.0.0.1', '1.2.3.4 5.6.7.8', 'unknown'],
    ['10.0.0.0/8', '10.0.0.1', '1.2.3.4, garbage, 10.0.0.2', 'unknown'],
    ['10.0.0.0/8', '10.0.0.1', '1.2.3.4, , 10.0.0.2', 'unknown'],
    ['10.0.0.0/8', '10.0.0.1', '1.2.3.4, 010.0.0.2', 'unknown'],
    // CIDRs, to the bit.
    ['10.0.0.0/9', '10.127.255.255', '1.2.3.4', '1.2.3.4'],
    ['10.0.0.0/9', '10.128.0.0', '1.2.3.4', '10.128.0.0'],
    ['203.0.113.4/30', '203.0.113.7', '1.2.3.4', '1.2.3.4'],
    ['203.0.113.4/30', '203.0.113.8', '1.2.3.4', '203.0.113.8'],
    ['203.0.113.4/32', '203.0.113.5', '1.2.3.4', '203.0.113.5'],
    ['10.1.2.3/8', '10.9.9.9', '1.2.3.4', '1.2.3.4'],
    ['128.0.0.0/1', '200.0.0.1', '1.2.3.4', '1.2.3.4'],
    ['2001:db8::/32', '2001:db8:ffff::1', '1.2.3.4', '1.2.3.4'],
    ['2001:db8::/32', '2001:db9::1', '1.2.3.4', '2001:db9::/64'],
    ['2001:db8::/33', '2001:db8:8000::1', '1.2.3.4', '2001:db8:8000::/64'],
    ['2001:DB8::1', '2001:db8:0:0:0:0:0:1', '1.2.3.4', '1.2.3.4'],
    ['2001:db8::1/128', '2001:db8::2', '1.2.3.4', '2001:db8::/64'],
    // The prefix of a mapped network counts from the 128 bits of its form.
    ['::ffff:10.0.0.0/104', '10.9.9.9', '1.2.3.4', '1.2.3.4'],
    ['::ffff:10.0.0.0/104', '11.0.0.1', '1.2.3.4', '11.0.0.1'],
    ['::ffff:a00:0/104', '::ffff:10.9.9.9', '1.2.3.4', '1.2.3.4'],
    ['::ffff:203.0.113.7/128', '203.0.113.8', '1.2.3.4', '203.0.113.8'],
    // No network of IPv6 holds an IPv4 address, mapped or not.
    ['::/1', '10.0.0.1', '1.2.3.4', '10.0.0.1'],
    ['::/1', '::ffff:10.0.0.1', '1.2.3.4', '10.0.0.1'],
    ['128.0.0.0/1', '8000::1', '1.2.3.4', '8000::/64'],
    // Named ranges, lists, and lists in a string, as an environment variable has them.
    ['linklocal', '169.254.1.1', '1.2.3.4', '1.2.3.4'],
    ['linklocal', 'fe80::1%eth0', '1.2.3.4', '1.2.3.4'],
    ['linklocal', 'febf::1', '1.2.3.4', '1.2.3.4'],
    ['uniquelocal', '10.0.0.1', '1.2.3.4', '1.2.3.4'],
    ['uniquelocal', '172.31.255.255', '1.2.3.4', '1.2.3.4'],
    ['uniquelocal', '172.32.0.0', '1.2.3.4', '172.32.0.0'],
    ['uniquelocal', '192.168.1.1', '1.2.3.4', '1.2.3.4'],
    ['uniquelocal', 'fd00::1', '1.2.3.4', '1.2.3.4'],
    ['uniquelocal', '127.0.0.1', '1.2.3.4', '127.0.0.1'],
    [['loopback', '10.0.0.0/8'], '127.0.0.1', '1.2.3.4, 10.0.0.1', '1.2.3.4'],
    ['loopback, 10.0.0.0/8', '127.0.0.1', '1.2.3.4, 10.0.0.1', '1.2.3.4'],
    ['loopback,uniquelocal', '10.0.0.1', '1.2.3.4, 127.0.0.1', '1.2.3.4'],
    // An interface that is named has to be that one (CVE-2026-121192).
    ['fe80::1%eth0', 'fe80::1%eth0', '1.2.3.4', '1.2.3.4'],
    ['fe80::1%eth0', 'fe80::1%eth1', '1.2.3.4', 'fe80::/64'],
    ['fe80::1%eth0', 'fe80::1', '1.2.3.4', 'fe80::/64'],
    ['fe80::%eth0/10', 'fe80::2%eth0', '1.2.3.4', '1.2.3.4'],
    ['fe80::%eth0/10', 'fe80::2%eth1', '1.2.3.4', 'fe80::/64'],
    ['fe80::1', 'fe80::1%eth1', '1.2.3.4', '1.2.3.4'],
    // A number of hops: the peer is the first.
    [promised(1), '203.0.113.7', '1.2.3.4', '1.2.3.4'],
    [promised(1), '203.0.113.7', '6.6.6.6, 1.2.3.4', '1.2.3.4'],
    [promised(1), '203.0.113.7', '1.2.3.4, garbage', 'unknown'],
    [promised(2), '203.0.113.7', '6.6.6.6, 1.2.3.4, 198.51.100.1', '1.2.3.4'],
    [promised(2), '203.0.113.7', '6.6.6.6, 1.2.3.4, garbage', '1.2.3.4'],
    [promised(2), '203.0.113.7', '1.2.3.4, 198.51.100.1', '1.2.3.4'],
    [promised(3), '203.0.113.7', '6.6.6.6, 1.2.3.4, 198.51.100.1, 198.51.100.2', '1.2.3.4'],
    // Fewer entries than hops: the one that is farthest away.
    [promised(2), '203.0.113.7', '198.51.100.1', '198.51.100.1'],
    [promised(3), '203.0.113.7', '1.2.3.4, 198.51.100.1', '1.2.3.4'],
    [promised(3), '203.0.113.7', '', '203.0.113.7'],
  ])('trust %j, peer %s, %j: %s', (trustProxy, peer, header, client) => {
    expect(clientOf({ ...(trustProxy !== undefined && { trustProxy }) }, peer, xff(header))).toBe(client);
  });

  it('reads a header of any length from its end', () => {
    const many = Array.from({ length: 1000 }, (_, i) => `10.0.${i >> 8}.${i & 255}`).join(', ');
    expect(clientOf({ trustProxy: 'loopback' }, '127.0.0.1', xff(`${many}, 1.2.3.4`))).toBe('1.2.3.4');
    expect(clientOf({ trustProxy: promised(2) }, '127.0.0.1', xff(`${many}, 1.2.3.4, 5.6.7.8`))).toBe('1.2.3.4');
    // All trusted, and more than any chain of proxies has: not walked to the end.
    expect(clientOf({ trustProxy: ['loopback', '10.0.0.0/8'] }, '127.0.0.1', xff(many))).toBe('10.0.3.168');
    expect(clientOf({ trustProxy: 'loopback' }, '127.0.0.1', xff(','.repeat(100_000)))).toBe('unknown');
    expect(clientOf({ trustProxy: 'loopback' }, '127.0.0.1', xff('1'.repeat(1_000_000)))).toBe('unknown');
  });

  it('is not asked where there is no connection', () => {
    expect(clientOf({}, undefined, xff('6.6.6.6'))).toBe('no address');
    expect(clientOf({ trustProxy: 'loopback' }, undefined, xff('6.6.6.6'))).toBe('no address');
    expect(clientOf({ trustProxy: promised(1) }, undefined)).toBe('no address');
  });

  it('is asked where the connection has no address, once that nobody else makes one is promised', () => {
    expect(clientOf({ trustProxy: promised(1) }, undefined, xff('6.6.6.6, 1.2.3.4'))).toBe('1.2.3.4');
    expect(clientOf({ trustProxy: promised(2) }, undefined, xff('6.6.6.6, 1.2.3.4, 10.0.0.1'))).toBe('1.2.3.4');
    expect(clientOf({ trustProxy: promised(1) }, '', xff('1.2.3.4'))).toBe('1.2.3.4');
  });

  it('gives the same client, whatever stands left of what the trusted proxies wrote', () => {
    const parts = fc.constantFrom(
      '6.6.6.6',
      '127.0.0.1',
      '10.0.0.9',
      ',',
      ' ',
      '"',
      'garbage',
      '::1',
      '[',
      ';',
      'for=',
    );
    const left = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(parts).map((all) => all.join('')),
    );
    fc.assert(
      fc.property(left, (text) => {
        for (const trustProxy of [['loopback', '10.0.0.0/8'], promised(2)]) {
          expect(clientOf({ trustProxy }, '127.0.0.1', xff(`${text}, 1.2.3.4, 10.0.0.1`))).toBe('1.2.3.4');
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (peer, value) => {
        clientOf({ trustProxy: 'loopback' }, peer, xff(value));
        clientOf({ trustProxy: 'loopback' }, '127.0.0.1', xff(value));
        clientOf({ trustProxy: 'loopback', header: 'forwarded' }, '127.0.0.1', { forwarded: value });
        clientOf({ trustProxy: 'loopback', header: 'x-real-ip' }, '127.0.0.1', { 'x-real-ip': value });
      }),
    );
  });
});

describe('the one configured header', () => {
  const trustProxy = 'loopback,10.0.0.0/8';
  it.each<[header: string, headers: Record<string, string>, client: string]>([
    ['forwarded', { forwarded: 'for=1.2.3.4' }, '1.2.3.4'],
    ['forwarded', { forwarded: 'for=6.6.6.6, for=1.2.3.4;proto=https;by=10.0.0.1' }, '1.2.3.4'],
    ['forwarded', { forwarded: 'for="[2001:db8::1]:4711";proto=https, for=10.0.0.1' }, '2001:db8::/64'],
    ['forwarded', { forwarded: 'for="1.2.3.4:80", for="[::ffff:10.0.0.1]"' }, '1.2.3.4'],
    ['forwarded', { forwarded: 'for=6.6.6.6, host="a,b;for=7.7.7.7";for=1.2.3.4' }, '1.2.3.4'],
    ['forwarded', { forwarded: 'for=6.6.6.6;host="x, for=1.2.3.4' }, 'unknown'],
    ['forwarded', { forwarded: 'for=6.6.6.6, proto=https' }, 'unknown'],
    ['forwarded', { forwarded: 'for=6.6.6.6, for=unknown' }, 'unknown'],
    ['forwarded', { forwarded: 'for=6.6.6.6, for=_hidden' }, 'unknown'],
    ['forwarded', { forwarded: 'for=6.6.6.6, for=_hidden, for=10.0.0.1' }, 'unknown'],
    ['forwarded', { forwarded: '6.6.6.6' }, 'unknown'],
    ['forwarded', { forwarded: '' }, '127.0.0.1'],
    ['forwarded', { forwarded: Array.from({ length: 1000 }, () => 'for=6.6.6.6').join() + ',for=1.2.3.4' }, '1.2.3.4'],
    // The others are the client's own, and so is a missing one.
    ['forwarded', { 'forwarded': 'for=1.2.3.4', 'x-forwarded-for': '6.6.6.6' }, '1.2.3.4'],
    ['forwarded', { 'x-forwarded-for': '6.6.6.6', 'x-real-ip': '6.6.6.6' }, '127.0.0.1'],
    ['x-forwarded-for', { 'forwarded': 'for=6.6.6.6', 'x-forwarded-for': '1.2.3.4' }, '1.2.3.4'],
    ['x-forwarded-for', { forwarded: 'for=6.6.6.6' }, '127.0.0.1'],
    ['x-forwarded-for', { 'x-real-ip': '6.6.6.6', 'cf-connecting-ip': '6.6.6.6' }, '127.0.0.1'],
    // Headers that hold one address.
    ['cf-connecting-ip', { 'cf-connecting-ip': '1.2.3.4', 'x-forwarded-for': '6.6.6.6' }, '1.2.3.4'],
    ['cf-connecting-ip', { 'cf-connecting-ip': '2001:DB8::1' }, '2001:db8::/64'],
    ['x-real-ip', { 'x-real-ip': ' [2001:db8::1]:80 ' }, '2001:db8::/64'],
    ['x-real-ip', { 'x-real-ip': '10.0.0.9' }, '10.0.0.9'],
    ['x-real-ip', { 'x-real-ip': '6.6.6.6, 1.2.3.4' }, 'unknown'],
    ['x-real-ip', { 'x-real-ip': 'garbage' }, 'unknown'],
    ['x-real-ip', { 'x-forwarded-for': '6.6.6.6' }, '127.0.0.1'],
    ['fly-client-ip', { 'fly-client-ip': '1.2.3.4' }, '1.2.3.4'],
  ])('%s of %j: %s', (header, headers, client) => {
    expect(clientOf({ trustProxy, header }, '127.0.0.1', headers)).toBe(client);
    // From anybody else, none is read.
    expect(clientOf({ trustProxy, header }, '203.0.113.7', headers)).toBe('203.0.113.7');
  });
});

describe('a trust setting that would be wrong', () => {
  const networks = 'test.trustProxy must be addresses, CIDRs with a prefix above 0, loopback, linklocal or uniquelocal';
  const mapped = 'test.trustProxy must be CIDRs of mapped addresses with a prefix above 96';
  const kinds = 'test.trustProxy must be addresses, CIDRs, or { hops, originUnreachable: true }';
  const unreachable =
    'test.trustProxy.originUnreachable must be true, which says that nobody reaches the server but through these hops';
  const hops = 'test.trustProxy.hops must be an integer from 1 to 64';

  it.each<[trust: unknown, sentence: string, received: string]>([
    // All of the internet.
    ['/0', networks, '"/0"'],
    ['0.0.0.0/0', networks, '"0.0.0.0/0"'],
    ['10.0.0.0/0', networks, '"10.0.0.0/0"'],
    ['::/0', networks, '"::/0"'],
    ['2001:db8::/0', networks, '"2001:db8::/0"'],
    ['*', networks, '"*"'],
    ['true', networks, '"true"'],
    ['all', networks, '"all"'],
    ['0.0.0.0/00', networks, '"0.0.0.0/00"'],
    // All of IPv4 (CVE-2026-90711, CVE-2026-92395).
    ['::ffff:10.0.0.0/8', mapped, '"::ffff:10.0.0.0/8"'],
    ['::ffff:0.0.0.0/96', mapped, '"::ffff:0.0.0.0/96"'],
    ['::FFFF:a00:0/95', mapped, '"::FFFF:a00:0/95"'],
    ['0:0:0:0:0:ffff:10.0.0.0/64', mapped, '"0:0:0:0:0:ffff:10.0.0.0/64"'],
    ['::ffff:10.0.0.0/129', mapped, '"::ffff:10.0.0.0/129"'],
    // No networks.
    ['10.0.0.0/33', networks, '"10.0.0.0/33"'],
    ['2001:db8::/129', networks, '"2001:db8::/129"'],
    ['10.0.0.0/-1', networks, '"10.0.0.0/-1"'],
    ['10.0.0.0/8.5', networks, '"10.0.0.0/8.5"'],
    ['10.0.0.0/', networks, '"10.0.0.0/"'],
    ['10.0.0.0/8/8', networks, '"10.0.0.0/8/8"'],
    ['10.0.0.0/x', networks, '"10.0.0.0/x"'],
    ['10.0.0.0/255.0.0.0', networks, '"10.0.0.0/255.0.0.0"'],
    ['10.0.0.0/1e1', networks, '"10.0.0.0/1e1"'],
    ['10.0.0/8', networks, '"10.0.0/8"'],
    ['010.0.0.0/8', networks, '"010.0.0.0/8"'],
    ['0x0a.0.0.0/8', networks, '"0x0a.0.0.0/8"'],
    ['10.0.0.1:80', networks, '"10.0.0.1:80"'],
    ['10.0.0.0:80/120', networks, '"10.0.0.0:80/120"'],
    ['1.2.3.4%eth0', networks, '"1.2.3.4%eth0"'],
    ['::ffff:1.2.3.4%eth0', networks, '"::ffff:1.2.3.4%eth0"'],
    ['fe80::1%', networks, '"fe80::1%"'],
    ['fe80::1%eth0%eth1', networks, '"fe80::1%eth0%eth1"'],
    ['http://10.0.0.1', networks, '"http://10.0.0.1"'],
    ['redis://u:p@h', networks, '"redis://…"'],
    ['abc', networks, '"abc"'],
    ['localhost', networks, '"localhost"'],
    ['Loopback', networks, '"Loopback"'],
    ['loopback/8', networks, '"loopback/8"'],
    ['unknown', networks, '"unknown"'],
    ['[2001:db8::1]', networks, '"[2001:db8::1]"'],
    ['"10.0.0.1"', networks, '"\\"10.0.0.1\\""'],
    ['', networks, '""'],
    [' ', networks, '""'],
    ['loopback,', networks, '""'],
    ['loopback, 0.0.0.0/0', networks, '"0.0.0.0/0"'],
    ['constructor', networks, '"constructor"'],
    ['__proto__', networks, '"__proto__"'],
    [['loopback', '::/0'], networks, '"::/0"'],
    [['loopback', ''], networks, '""'],
    [['loopback', 'toString'], networks, '"toString"'],
    [[1], networks, '1'],
    [[undefined], networks, 'undefined'],
    [Array.from({ length: 2, 0: 'loopback' }), networks, 'undefined'],
    // oxlint-disable-next-line unicorn/no-new-array -- an array of holes
    [new Array(2), networks, 'undefined'],
    [[null], networks, 'null'],
    [[['loopback']], networks, 'an array'],
    [[{ hops: 1, originUnreachable: true }], networks, 'an object'],
    // Neither networks nor a promise.
    [[], kinds, 'an array'],
    [true, kinds, 'true'],
    [false, kinds, 'false'],
    [1, kinds, '1'],
    [2n, kinds, '2n'],
    [() => true, kinds, 'a function'],
    [Symbol('x'), kinds, 'a symbol'],
    [null, 'test.trustProxy must be an object', 'null'],
    // Hops, without the promise that makes them safe, or without being hops.
    [{ hops: 1 }, unreachable, 'undefined'],
    [{ hops: 1, originUnreachable: false }, unreachable, 'false'],
    [{ hops: 1, originUnreachable: 'true' }, unreachable, '"true"'],
    [{ hops: 1, originUnreachable: 1 }, unreachable, '1'],
    [{}, hops, 'undefined'],
    [{ originUnreachable: true }, hops, 'undefined'],
    [{ hops: 0, originUnreachable: true }, hops, '0'],
    [{ hops: -1, originUnreachable: true }, hops, '-1'],
    [{ hops: 65, originUnreachable: true }, hops, '65'],
    [{ hops: 1.5, originUnreachable: true }, hops, '1.5'],
    [{ hops: Number.NaN, originUnreachable: true }, hops, 'NaN'],
    [{ hops: Infinity, originUnreachable: true }, hops, 'Infinity'],
    [{ hops: '1', originUnreachable: true }, hops, '"1"'],
  ])('%o is refused', (trustProxy, sentence, received) => {
    const option = sentence.split(' ')[0];
    expect(() => createClientIp({ trustProxy: trustProxy as TrustProxy }, 'test')).toThrow(
      expect.objectContaining({
        code: 'invalid-option',
        option,
        message: `${sentence}; received ${received}. (docs/errors.md#invalid-option)`,
      }) as Error,
    );
  });

  it('is refused by the name that is not an option', () => {
    const trustProxy = { hops: 1, originUnreachable: true, hop: 2 } as TrustProxy;
    expect(() => createClientIp({ trustProxy }, 'test')).toThrow(
      'test.trustProxy has no option "hop"; did you mean hops?',
    );
    const unknown = { addresses: ['10.0.0.1'] } as unknown as TrustProxy;
    expect(() => createClientIp({ trustProxy: unknown }, 'test')).toThrow(
      'test.trustProxy has no option "addresses"; known options: hops, originUnreachable (docs/errors.md#unknown-option)',
    );
  });

  it.each<[unknown]>(
    (
      [
        '',
        ' ',
        'X-Forwarded-For',
        'x-forwarded-for ',
        'x-forwarded-for,forwarded',
        'x forwarded for',
        'x:y',
        'x\r\ny',
        'ｘ',
        'x'.repeat(65),
        null,
        5,
        true,
        [],
        ['x-forwarded-for'],
        {},
      ] as unknown[]
    ).map((header) => [header]),
  )('so is the header %o, trusted or not', (header) => {
    for (const trust of [{}, { trustProxy: 'loopback' }]) {
      expect(() => createClientIp({ ...trust, header: header as string }, 'test')).toThrow(
        'test.header must be a header name in lower case; received ',
      );
    }
  });

  it('so is a header that nobody is trusted to send', () => {
    expect(() => createClientIp({ header: 'cf-connecting-ip' }, 'test')).toThrow(
      'test.header must be left out unless trustProxy says who may send it; received "cf-connecting-ip".',
    );
  });
});
