import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPrivate, parseAddress } from './address.ts';
import { toClientAddress } from './client-ip.ts';

const read = (raw: string): string | undefined => {
  const address = parseAddress(raw);
  return address && address.ip.toString() + (address.zone === undefined ? '' : `%${address.zone}`);
};

describe('parseAddress', () => {
  it.each<[raw: string, address: string]>([
    ['0.0.0.0', '0.0.0.0'],
    ['255.255.255.255', '255.255.255.255'],
    ['203.0.113.7', '203.0.113.7'],
    ['\t203.0.113.7\t', '203.0.113.7'],
    ['"203.0.113.7"', '203.0.113.7'],
    ['203.0.113.7:0', '203.0.113.7'],
    ['203.0.113.7:65535', '203.0.113.7'],
    ['[203.0.113.7]', '203.0.113.7'],
    ['[203.0.113.7]:80', '203.0.113.7'],
    ['::', '::'],
    ['::1', '::1'],
    ['1::', '1::'],
    ['2001:db8::1', '2001:db8::1'],
    ['2001:0db8:0000:0000:0000:0000:0000:0001', '2001:db8::1'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:db8::0001', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:0', '2001:db8::1'],
    ['"[2001:db8::1]:65535"', '2001:db8::1'],
    ['2001:db8::1.2.3.4', '2001:db8::102:304'],
    ['2001:db8::1:443', '2001:db8::1:443'],
    // Mapped, in all spellings.
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['::FFFF:1.2.3.4', '1.2.3.4'],
    ['::fFfF:1.2.3.4', '1.2.3.4'],
    ['::ffff:102:304', '1.2.3.4'],
    ['::ffff:0102:0304', '1.2.3.4'],
    ['0::ffff:1.2.3.4', '1.2.3.4'],
    ['::0:ffff:1.2.3.4', '1.2.3.4'],
    ['0:0:0:0:0:ffff:1.2.3.4', '1.2.3.4'],
    ['0000:0000:0000:0000:0000:ffff:1.2.3.4', '1.2.3.4'],
    ['0:0:0:0:0:ffff:102:304', '1.2.3.4'],
    ['[::ffff:1.2.3.4]', '1.2.3.4'],
    ['[::ffff:102:304]:80', '1.2.3.4'],
    ['"[::FFFF:1.2.3.4]:80"', '1.2.3.4'],
    // Not mapped, though they look alike.
    ['::1.2.3.4', '::102:304'],
    ['::fffe:1.2.3.4', '::fffe:102:304'],
    ['::ffff:0:1.2.3.4', '::ffff:0:102:304'],
    ['64:ff9b::1.2.3.4', '64:ff9b::102:304'],
    // The interface is kept, for comparing it with a trusted one.
    ['fe80::1%eth0', 'fe80::1%eth0'],
    ['[fe80::1%eth0]:443', 'fe80::1%eth0'],
    ['FE80::1%Eth0', 'fe80::1%Eth0'],
    ['fe80::1%', 'fe80::1%'],
    ['::ffff:1.2.3.4%eth0', '1.2.3.4'],
  ])('%s', (raw, address) => {
    expect(read(raw)).toBe(address);
  });

  it.each([
    // Parsers disagree about these: 8.0.0.1 or 10.0.0.1, 127.0.0.1 or nothing.
    '010.0.0.1',
    '10.0.0.01',
    '00.0.0.0',
    '0x7f.0.0.1',
    '0x7f000001',
    '0X7F.1',
    '127.1',
    '127.0.1',
    '017700000001',
    '2130706433',
    '0',
    '::ffff:127.1',
    '::ffff:0x7f.0.0.1',
    '::ffff:127.0.0.01',
    // Too many, too few, too large.
    '1.2.3',
    '1.2.3.4.5',
    '1.2.3.256',
    '1.2.3.4444',
    '1..3.4',
    '1.2.3.',
    '.1.2.3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7:8::',
    '2001:db8::12345',
    '2001:db8::g',
    '2001:db8:::1',
    '::1::',
    ':1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:',
    // Signs, blanks, digits of other scripts.
    '+1.2.3.4',
    '-1.2.3.4',
    '1.2.3.-4',
    '1. 2.3.4',
    '1.2.3.4 5',
    '1e1.2.3.4',
    '١.٢.٣.٤',
    '１.２.３.４',
    '1。2。3。4',
    '2001:db8::１',
    // Ports, brackets and quotes that are none.
    '1.2.3.4:',
    '1.2.3.4:x',
    '1.2.3.4:-1',
    '1.2.3.4:65536',
    '1.2.3.4:999999',
    '1.2.3.4:80:80',
    '::ffff:1.2.3.4:80',
    '[2001:db8::1]:',
    '[2001:db8::1]:65536',
    '[2001:db8::1]80',
    '[2001:db8::1',
    '2001:db8::1]',
    '[[2001:db8::1]]',
    '"1.2.3.4',
    '1.2.3.4"',
    '""1.2.3.4""',
    "'1.2.3.4'",
    '(1.2.3.4)',
    // What stands in headers in place of an address.
    '',
    '"',
    '""',
    ':',
    '%',
    '%eth0',
    '[]',
    '[]:80',
    '-',
    'unknown',
    '"unknown"',
    '_hidden',
    'localhost',
    'example.com',
    'example.com:80',
    'http://1.2.3.4',
    '1.2.3.4/32',
    '2001:db8::/32',
    '1.2.3.4,5.6.7.8',
    '1.2.3.4;5.6.7.8',
    '1.2.3.4\n5.6.7.8',
    '1.2.3.4\u0000',
    '__proto__',
    `1.2.3.4${' '.repeat(200)}`,
    `${'0'.repeat(95)}1.2.3.4`,
    `2001:db8::${'0'.repeat(90)}1`,
  ])('%j is no address', (raw) => {
    expect(read(raw)).toBeUndefined();
  });

  it('never throws, and whatever it reads is an address', () => {
    const parts = fc.constantFrom('1', '255', '256', '.', ':', '::', 'ffff', '%', '[', ']', '"', 'x', '0', ' ');
    const raw = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(parts, { maxLength: 20 }).map((all) => all.join('')),
    );
    fc.assert(
      fc.property(raw, (text) => {
        const ip = parseAddress(text)?.ip.toString();
        if (ip !== undefined) expect(read(ip)).toBe(ip);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('toClientAddress', () => {
  const octets = fc.array(fc.nat(255), { minLength: 4, maxLength: 4 });
  const parts = fc.array(fc.nat(0xffff), { minLength: 8, maxLength: 8 });

  it('gives one client for every spelling of any IPv4 address', () => {
    fc.assert(
      fc.property(octets, fc.integer({ min: 0, max: 65_535 }), (bytes, port) => {
        const v4 = bytes.join('.');
        const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
        const [high, low] = [hex.slice(0, 4), hex.slice(4)];
        const mapped = [
          `::ffff:${v4}`,
          `::FFFF:${v4}`,
          `::ffff:${high}:${low}`,
          `::FFFF:${high.toUpperCase()}:${low.toUpperCase()}`,
          `::ffff:${Number(`0x${high}`).toString(16)}:${Number(`0x${low}`).toString(16)}`,
          `0:0:0:0:0:ffff:${v4}`,
          `0000:0000:0000:0000:0000:ffff:${high}:${low}`,
        ];
        const spellings = [v4, `${v4}:${port}`, `"${v4}:${port}"`, ` ${v4}`, ...mapped];
        spellings.push(
          ...mapped.flatMap((one) => [`[${one}]`, `[${one}]:${port}`, `"[${one}]:${port}"`, `${one}%eth0`]),
        );
        expect(new Set(spellings.map((one) => toClientAddress(one).client))).toEqual(new Set([v4]));
        expect(new Set(spellings.map((one) => toClientAddress(one).site))).toEqual(new Set([v4]));
      }),
    );
  });

  it('gives one client for every address of a /64, and one site for every address of a /48', () => {
    // The addresses in which others are embedded are not the internet's (see below).
    const routed = parts.map(([first = 0, ...rest]) => [0x2000 + (first % 0x2000), ...rest]);
    const print = (all: readonly number[]): string => all.map((part) => part.toString(16)).join(':');
    fc.assert(
      fc.property(routed, parts, (one, other) => {
        const neighbour = print([...one.slice(0, 4), ...other.slice(4)]);
        const inSite = print([...one.slice(0, 3), ...other.slice(3)]);
        const { client, site } = toClientAddress(print(one));
        expect(toClientAddress(neighbour)).toMatchObject({ client, site });
        expect(toClientAddress(inSite).site).toBe(site);
        expect(client).toMatch(/^[0-9a-f:]+::\/64$/);
        expect(site).toMatch(/^[0-9a-f:]+::\/48$/);
      }),
    );
  });

  it('is idempotent', () => {
    fc.assert(
      fc.property(octets, parts, (v4, v6) => {
        for (const raw of [v4.join('.'), v6.map((part) => part.toString(16)).join(':')]) {
          const once = toClientAddress(raw);
          const again = toClientAddress(once.client.replace(/\/64$/, ''));
          expect([again.client, again.site]).toEqual([once.client, once.site]);
        }
      }),
    );
  });

  it.each([
    // IPv4 clients as a server without IPv4 sees them: with a mask they would all be one client.
    ['64:ff9b::1.2.3.4', '1.2.3.4'],
    ['64:ff9b::102:304', '1.2.3.4'],
    ['::ffff:0:1.2.3.4', '1.2.3.4'],
    // Not the well-known prefix of NAT64, whose /48 is assigned for local use (RFC 8215).
    ['64:ff9b:1::1.2.3.4', '64:ff9b:1::/64'],
    ['64:ff9b:0:0:1::1', '64:ff9b::/64'],
    // 6to4 has the IPv4 address in its /48.
    ['2002:102:304::1', '2002:102:304::/64'],
    ['2002:102:305::1', '2002:102:305::/64'],
  ])('%s is a client of its own: %s', (raw, client) => {
    expect(toClientAddress(raw).client).toBe(client);
  });

  it('leaves interfaces out: one client, wherever it is plugged in', () => {
    expect(toClientAddress('fe80::1%eth0')).toEqual(toClientAddress('fe80::1%eth1'));
  });
});

describe('isPrivate', () => {
  it.each<[raw: string, expected: boolean]>([
    ['10.0.0.0', true],
    ['10.255.255.255', true],
    ['9.255.255.255', false],
    ['11.0.0.0', false],
    ['172.15.255.255', false],
    ['172.16.0.0', true],
    ['172.31.255.255', true],
    ['172.32.0.0', false],
    ['192.167.255.255', false],
    ['192.168.0.1', true],
    ['192.169.0.0', false],
    ['127.0.0.1', true],
    ['127.255.255.254', true],
    ['169.254.169.254', true],
    ['100.64.0.1', true],
    ['100.128.0.0', false],
    ['0.0.0.0', true],
    ['203.0.113.7', false],
    ['8.8.8.8', false],
    ['::ffff:10.0.0.1', true],
    ['::FFFF:7f00:1', true],
    ['::ffff:8.8.8.8', false],
    ['::', true],
    ['::1', true],
    ['fc00::1', true],
    ['fdff::1', true],
    ['fe80::1', true],
    ['fe80::1%eth0', true],
    // The whole /10, not only its first /64 (CVE-2026-101913).
    ['fe80:0:0:1::1', true],
    ['febf:ffff::1', true],
    ['fec0::1', false],
    ['2001:db8::1', false],
    ['2600::1', false],
  ])('%s: %s', (raw, expected) => {
    const address = parseAddress(raw);
    expect(address && isPrivate(address)).toBe(expected);
  });
});
