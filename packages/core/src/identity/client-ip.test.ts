import { describe, expect, it } from 'vitest';
import { createAddressParser, toClientAddress, UNKNOWN_ADDRESS } from './client-ip.ts';

describe('toClientAddress', () => {
  it.each([
    // One IPv4 address in all its spellings.
    ['203.0.113.7', '203.0.113.7', '203.0.113.7'],
    ['203.0.113.7:5678', '203.0.113.7', '203.0.113.7'],
    [' 203.0.113.7 ', '203.0.113.7', '203.0.113.7'],
    ['"203.0.113.7:5678"', '203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7', '203.0.113.7'],
    ['::FFFF:203.0.113.7', '203.0.113.7', '203.0.113.7'],
    ['::FFFF:cb00:7107', '203.0.113.7', '203.0.113.7'],
    ['0:0:0:0:0:ffff:203.0.113.7', '203.0.113.7', '203.0.113.7'],
    ['0000:0000:0000:0000:0000:FFFF:CB00:7107', '203.0.113.7', '203.0.113.7'],
    ['[::ffff:203.0.113.7]:443', '203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7%eth0', '203.0.113.7', '203.0.113.7'],
    // IPv6 to its /64, and to its /48.
    ['2001:db8:0:1::1', '2001:db8:0:1::/64', '2001:db8::/48'],
    ['2001:db8:0:1:ffff::9', '2001:db8:0:1::/64', '2001:db8::/48'],
    ['2001:db8:0:2::1', '2001:db8:0:2::/64', '2001:db8::/48'],
    ['2001:DB8::0:1', '2001:db8::/64', '2001:db8::/48'],
    ['2001:db8::1', '2001:db8::/64', '2001:db8::/48'],
    ['[2001:db8::1]', '2001:db8::/64', '2001:db8::/48'],
    ['[2001:db8::1]:443', '2001:db8::/64', '2001:db8::/48'],
    ['"[2001:db8::1]:4711"', '2001:db8::/64', '2001:db8::/48'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['fe80::1%eth0', 'fe80::/64', 'fe80::/48'],
    ['::1', '::/64', '::/48'],
    ['ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'ffff:ffff:ffff:ffff::/64', 'ffff:ffff:ffff::/48'],
  ])('%s', (raw, client, site) => {
    expect(toClientAddress(raw)).toMatchObject({ client, site });
  });

  it.each([
    '',
    ' ',
    'unknown',
    'garbage',
    'localhost',
    '_hidden',
    '010.0.0.1',
    '0x7f.1',
    '1.2.3',
    '1.2.3.4.5',
    '256.1.1.1',
    '2130706433',
    '1.2.3.4/8',
    '::g',
    ':::',
    '1::2::3',
    '[',
    '[]',
    '[1.2.3.4',
    '1.2.3.4:99999999',
    '1.2.3.4:99999',
    '[2001:db8::1]:70000',
    '::ffff:010.0.0.1',
    '::ffff:1.2.3',
    '"'.repeat(90),
    '-1.2.3.4',
    '１.2.3.4',
    '%00',
    'null',
    'undefined',
  ])('%j is no address', (raw) => {
    expect(toClientAddress(raw)).toEqual(UNKNOWN_ADDRESS);
  });

  it('never throws, whatever a proxy wrote', () => {
    const addressOf = createAddressParser();
    expect(addressOf(undefined)).toBe(UNKNOWN_ADDRESS);
    expect(addressOf('x'.repeat(1_000_000))).toEqual(UNKNOWN_ADDRESS);
    expect(addressOf(':'.repeat(5000))).toEqual(UNKNOWN_ADDRESS);
  });
});
