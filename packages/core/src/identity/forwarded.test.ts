import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseForwarded } from './forwarded.ts';

describe('parseForwarded', () => {
  it.each<[header: string, hops: readonly string[]]>([
    // The examples of RFC 7239 §4.
    ['for="_gazonk"', ['_gazonk']],
    ['For="[2001:db8:cafe::17]:4711"', ['[2001:db8:cafe::17]:4711']],
    ['for=192.0.2.60;proto=http;by=203.0.113.43', ['192.0.2.60']],
    ['for=192.0.2.43, for=198.51.100.17', ['192.0.2.43', '198.51.100.17']],
    ['for=192.0.2.43, for="[2001:db8:cafe::17]", for=unknown', ['192.0.2.43', '[2001:db8:cafe::17]', 'unknown']],
    ['for=_hidden, for=_SEVKISEK', ['_hidden', '_SEVKISEK']],
    ['for=192.0.2.43,for="[2001:db8:cafe::17]",for=unknown', ['192.0.2.43', '[2001:db8:cafe::17]', 'unknown']],
    // Names in any case, pairs in any order, and pairs that nobody has heard of.
    ['FOR=1.2.3.4', ['1.2.3.4']],
    ['proto=https;host=example.com;fOr=1.2.3.4;by=_lb', ['1.2.3.4']],
    ['for=1.2.3.4;secret=abc', ['1.2.3.4']],
    // What separates inside quotes is no separator.
    ['for="a,b"', ['a,b']],
    ['for="a;b";proto=http', ['a;b']],
    ['host="x, for=6.6.6.6";for=1.2.3.4', ['1.2.3.4']],
    ['by="x;for=6.6.6.6", for=1.2.3.4', ['', '1.2.3.4']],
    [String.raw`for="a\"b"`, ['a"b']],
    [String.raw`for="\1.2.3.4"`, ['1.2.3.4']],
    [String.raw`for="a\\"`, ['a\\']],
    [String.raw`host="\", for=6.6.6.6;x=\"";for=1.2.3.4`, ['1.2.3.4']],
    ['for=""', ['']],
    // An element without `for` is a hop all the same.
    ['proto=https', ['']],
    ['for=1.2.3.4, proto=https', ['1.2.3.4', '']],
    // Blanks and tabs around separators; two header lines arrive joined by a comma and a blank.
    ['  for=1.2.3.4  ', ['1.2.3.4']],
    ['for=1.2.3.4 ,\tfor=5.6.7.8', ['1.2.3.4', '5.6.7.8']],
    ['for=1.2.3.4;proto=http, for=5.6.7.8;proto=https', ['1.2.3.4', '5.6.7.8']],
    // Pairs and elements may be empty (§4: `[ forwarded-pair ]`; RFC 9110 §5.6.1.2). An empty element still is a hop.
    ['for=1.2.3.4;', ['1.2.3.4']],
    ['for=1.2.3.4;;proto=http', ['1.2.3.4']],
    [';for=1.2.3.4', ['1.2.3.4']],
    ['for=1.2.3.4, , for=5.6.7.8', ['1.2.3.4', '', '5.6.7.8']],
    ['for=1.2.3.4,', ['1.2.3.4', '']],
    ['', ['']],
  ])('%s', (header, hops) => {
    expect(parseForwarded(header)).toEqual(hops);
  });

  it.each([
    'for',
    'for=',
    '=1.2.3.4',
    'for 1.2.3.4',
    'for =1.2.3.4',
    'for= 1.2.3.4',
    '1.2.3.4',
    'garbage',
    // Colons and brackets have to be quoted (§6).
    'for=1.2.3.4:80',
    'for=[2001:db8::1]',
    'for=2001:db8::1',
    // Quotes without an end, and what stands behind one.
    'for="1.2.3.4',
    'for=1.2.3.4"',
    String.raw`for="1.2.3.4\"`,
    'for="1.2.3.4"x',
    'for="a""b"',
    'for=1.2.3.4 for=5.6.7.8',
    // One name twice in an element would be read differently by others.
    'for=6.6.6.6;for=1.2.3.4',
    'for=6.6.6.6;FOR=1.2.3.4',
    'proto=http;for=1.2.3.4;proto=https',
    // What a header cannot hold reaches the parser all the same where a runtime is lenient.
    'for=1.2.3.4\nfor=5.6.7.8',
    'for=\u0000',
    'for=日本',
    // One bad element spoils the header, wherever it stands.
    'for="6.6.6.6, for=1.2.3.4',
    'for=1.2.3.4, for="[2001:db8::1]:4711',
  ])('%j is malformed', (header) => {
    expect(parseForwarded(header)).toBeUndefined();
  });

  it('never throws', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (header) => void parseForwarded(header)));
    const parts = fc.constantFrom('for', 'For', '=', '"', '\\', ',', ';', ' ', '1.2.3.4', '[::1]', ':80', '_x');
    fc.assert(fc.property(fc.array(parts), (header) => void parseForwarded(header.join(''))));
  });

  it('reads back what it is given, quoted', () => {
    const quote = (text: string): string => `for="${text.replace(/["\\]/g, String.raw`\$&`)}"`;
    // Line breaks cannot be in a header.
    const text = fc.string({ unit: 'binary' }).map((one) => one.replace(/[\r\n\u2028\u2029]/g, ''));
    fc.assert(
      fc.property(fc.array(text, { minLength: 1 }), (hops) => {
        expect(parseForwarded(hops.map(quote).join(', '))).toEqual(hops);
      }),
    );
  });

  it('lets nothing that a client wrote change what a trusted proxy appended', () => {
    const parts = fc.constantFrom('for=', 'by=', 'x=', '"', '\\', ',', ';', ' ', '6.6.6.6', '[::1]', ', for="');
    const appended = fc.constantFrom(
      ['for=1.2.3.4', '1.2.3.4'],
      ['for="[2001:db8::1]:4711"', '[2001:db8::1]:4711'],
      ['for="[2001:db8::1]";by="_lb";proto=https', '[2001:db8::1]'],
    );
    fc.assert(
      fc.property(fc.array(parts), appended, (client, [header = '', hop]) => {
        const hops = parseForwarded(`${client.join('')}, ${header}`);
        expect([hop, undefined]).toContain(hops?.at(-1));
      }),
      { numRuns: 2000 },
    );
  });

  it('takes time in proportion to the header', () => {
    expect(parseForwarded(Array.from({ length: 100_000 }, () => 'for=1.2.3.4').join(', '))).toHaveLength(100_000);
    expect(parseForwarded(`for=${'"'.repeat(1_000_000)}`)).toBeUndefined();
    expect(parseForwarded(`for="${'\\'.repeat(1_000_001)}"`)).toBeUndefined();
    expect(parseForwarded(' '.repeat(1_000_000))).toEqual(['']);
  });
});
