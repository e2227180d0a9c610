import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  allReadings,
  covers,
  foldCase,
  isClean,
  PARAM,
  REST,
  routerReadings,
  type Segment,
  toPattern,
  toSegments,
} from './route-path.ts';

it('equal in lower case, in upper case or to a regular expression is equal', () => {
  for (let code = 0; code < 0x1_0000; code++) {
    const char = String.fromCharCode(code);
    const folded = foldCase(char);
    if (foldCase(char.toLowerCase()) !== folded || foldCase(char.toUpperCase()) !== folded)
      expect([code, 'folded']).toEqual([code, folded]);
  }
  expect(foldCase(foldCase('/ΑΣ/ẞ'))).toBe(foldCase('/ας/SS'));
});

it.each([
  ['/', true],
  ['/login', true],
  ['/Login/', true],
  ['/.well-known/x.y', true],
  ['/a..b/...', true],
  ['/café', true],
  ['', true],
  ['login', false],
  ['*', false],
  ['/log%69n', false],
  ['/login;x', false],
  ['/a\\b', false],
  ['//a', false],
  ['/a//', false],
  ['/./a', false],
  ['/a/..', false],
  ['/a b', false],
  ['/a\0', false],
])('%j is clean: %s', (path, clean) => {
  expect(isClean(path)).toBe(clean);
});

it.each([
  ['/', []],
  ['', []],
  ['/a', ['a']],
  ['a/', ['a']],
  ['/a/b/', ['a', 'b']],
  ['/a//b//', ['a', '', 'b', '']],
  ['//', []],
])('the segments of %j', (path, segments) => {
  expect(toSegments(path)).toEqual(segments);
});

const texts = (readings: readonly (readonly string[])[]): string[] => readings.map((one) => `/${one.join('/')}`);

describe('the readings of a path', () => {
  it.each([
    ['/Login/', ['/login']],
    ['/%6Cogin', ['/%6cogin', '/login']],
    ['/%256Cogin', ['/%256cogin', '/%6cogin']],
    ['/a%2fb', ['/a%2fb', '/a/b']],
    ['//a/%62', ['//a/%62', '/a/%62', '//a/b', '/a/b']],
    ['/a;b/c', ['/a;b/c', '/a']],
    ['/a\\b', ['/a\\b', '/a/b']],
    ['/%C3%89', ['/%c3%89', '/é']],
    ['/%', ['/%']],
    ['/%ff%6C', ['/%ff%6c', '/%ffl']],
    ['/x/../a', ['/x/../a']],
    ['*login', ['/*login', '/login']],
    ['http://host?x/a?y', ['/', '/a']],
  ])('of %j by routers', (path, expected) => {
    expect(texts(routerReadings(path))).toEqual(expected);
  });

  it.each([
    ['/x/../a', '/a'],
    ['/./a/.', '/a'],
    ['/%2e%2E/a', '/a'],
    ['/x%2f..%2fa', '/a'],
    ['/x\\..\\a', '/a'],
    ['/../../a', '/a'],
    ['/x//../a', '/a'],
    ['/x//../a', '/x/a'],
    ['/a/..', '/'],
  ])('%j may be %j', (path, reading) => {
    expect(texts(allReadings(path))).toContain(reading);
    expect(texts(allReadings(path))).toContain(texts(routerReadings(path))[0]);
  });

  it('no text makes it throw, or take long', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('/', '*', ':', '%', '2', 'f', 'e', '.', '\\', ';', 'é', '\uD800', '\0') }),
        (text) => {
          expect(allReadings(text).length).toBeLessThanOrEqual(72);
        },
      ),
    );
  });
});

describe('the pattern of a framework', () => {
  const spelt = (pattern: readonly Segment[]): string[] =>
    pattern.map((one) => (one === PARAM ? ':' : one === REST ? '*' : one));
  it.each([
    ['/', []],
    ['/users/:id', ['users', ':']],
    ['/Users//:id/', ['users', ':']],
    ['/caf%C3%A9', ['café']],
    ['/:id(\\d+)/x', [':', 'x']],
    ['/:id{[0-9]+}/x', [':', 'x']],
    ['/:a-:b', [':']],
    ['/v:major', [':']],
    ['/:x?', ['*']],
    ['/a/:x+/b', ['a', '*']],
    ['/a{/:x}', ['*']],
    ['/a/{:x}', ['a', '*']],
    ['/files/*splat', ['files', '*']],
    ['*', ['*']],
    ['/(en|de)/x', ['*']],
    ['/:path{.+/x}', ['*']],
  ])('%j', (route, pattern) => {
    expect(spelt(toPattern(route))).toEqual(pattern);
  });

  it.each([
    [['a', PARAM], ['a', 'b'], true],
    [['a', PARAM], ['a'], false],
    [['a', PARAM], ['a', ''], false],
    [['a', PARAM], ['a', 'b', 'c'], false],
    [['a', REST], ['a'], true],
    [['a', REST], ['a', 'b', 'c'], true],
    [['a', REST], ['b'], false],
    [[], [], true],
    [[REST], [], true],
    [[PARAM], [PARAM], true],
    [[PARAM], [REST], false],
    [['a'], [PARAM], false],
    [[REST], [REST], true],
  ])('%j covers %j: %s', (pattern, other, expected) => {
    expect(covers(pattern as Segment[], other as Segment[])).toBe(expected);
  });
});
