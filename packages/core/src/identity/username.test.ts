import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RequestContext } from '../context.ts';
import { andThen } from '../maybe.ts';
import { createAddressParser } from './client-ip.ts';
import { createHasher } from './hash.ts';
import { createCallerResolver } from './identity.ts';
import { toPlace } from './partition.ts';
import { normalizeUsername, username, type UsernameOptions } from './username.ts';

describe('normalizeUsername', () => {
  it.each<[name: string, what: string, spellings: readonly string[]]>([
    ['bob@ex.com', 'case', ['Bob@Ex.com', 'BOB@EX.COM', 'bOB@eX.cOM']],
    ['bob@ex.com', 'blanks around it', ['bob@ex.com ', ' bob@ex.com', '\tbob@ex.com\n', '\u00A0bob@ex.com\u3000']],
    [
      'bob@ex.com',
      'NUL and other control characters',
      ['bob@ex.com\0', 'bob\0@ex.com', 'bob@ex.com\r\n', '\u001Bbob@ex.com'],
    ],
    [
      'bob@ex.com',
      'a control character behind a blank',
      ['bob@ex.com \0', '\0 bob@ex.com', '\u200B bob@ex.com \u200B'],
    ],
    ['bob@ex.com', 'zero width', ['b\u200Bob@ex.com', 'bob\u200D@ex.com', '\uFEFFbob@ex.com', 'bo\u2060b@ex.com']],
    ['bob@ex.com', 'soft hyphen and directions', ['bo\u00ADb@ex.com', '\u202Ebob@ex.com', 'bob@ex.com\u200F']],
    ['bob@ex.com', 'fullwidth', ['ｂｏｂ@ex.com', 'ＢＯＢ＠ＥＸ．ＣＯＭ']],
    ['bob@ex.com', 'letters of mathematics', ['𝐛𝐨𝐛@ex.com', '𝓑𝓞𝓑@ex.com', 'ⓑⓞⓑ@ex.com']],
    ['file', 'ligature', ['ﬁle', 'FILE', 'Ｆile', 'ﬁLE']],
    ['kim', 'Kelvin sign', ['\u212Aim', 'KIM', 'Kim']],
    ['å', 'Ångström sign, composed and decomposed', ['\u212B', 'A\u030A', 'a\u030A', 'Å', 'a\u200B\u030A']],
    ['josé', 'composed and decomposed', ['jose\u0301', 'JOSE\u0301', 'JOSÉ']],
    ['i\u0307', 'capital I with dot', ['\u0130', 'I\u0307']],
    ['1', 'digits in a circle, superscript', ['①', '¹', '１']],
    ['bob+tag@ex.com', 'a tag is left alone: only the provider knows', ['BOB+tag@ex.com']],
    ['b.o.b@gmail.com', 'and so are dots', ['B.O.B@gmail.com']],
    ['a b', 'a blank inside', ['A B', 'a\u00A0b', 'a\u3000b']],
    ['', 'nothing is left', ['', ' ', '\0', '\u200B', '\uFEFF \u00AD']],
    ['__proto__', 'a name of JavaScript', ['__PROTO__']],
  ])('%j: %s', (normal, _, spellings) => {
    expect(spellings.map(normalizeUsername)).toEqual(spellings.map(() => normal));
    expect(normalizeUsername(normal)).toBe(normal);
  });

  it.each([
    ['admin', 'аdmin'],
    ['admin', 'adm\u0131n'],
    ['bob@ex.com', 'bob+1@ex.com'],
    ['bob@ex.com', 'b.ob@ex.com'],
    ['a b', 'ab'],
    ['jose', 'josé'],
  ])('%s and %s are two names', (one, other) => {
    expect(normalizeUsername(one)).not.toBe(normalizeUsername(other));
  });

  it('is idempotent, and takes any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        const once = normalizeUsername(name);
        expect(normalizeUsername(once)).toBe(once);
      }),
      { numRuns: 2000 },
    );
    for (let code = 0; code < 0x110000; code++) {
      const once = normalizeUsername(`x${String.fromCodePoint(code)}x`);
      if (normalizeUsername(once) !== once) expect(code.toString(16)).toBe('idempotent');
    }
  });

  it('never makes a text much longer', () => {
    expect(normalizeUsername('A'.repeat(1_000_000))).toHaveLength(1_000_000);
    // The longest expansion that Unicode has.
    expect(normalizeUsername('\uFDFA'.repeat(500))).toHaveLength(9000);
    expect(normalizeUsername('\uFDFA'.repeat(1000))).toHaveLength(1000);
  });

  it('does not order combining marks without end, which takes quadratic time', () => {
    const marks = `A${'\u0300\u0316'.repeat(300)}`;
    expect(normalizeUsername(marks)).toBe(marks.toLowerCase());
    expect(normalizeUsername(` ${marks}\u200B `)).toBe(marks.toLowerCase());
  });

  it.each(['\uFE0F', '\u034F', '\u3164', '\u115F', '\u180B'])('takes off %o, which nobody sees', (invisible) => {
    expect(normalizeUsername(`b${invisible}ob`)).toBe('bob');
  });
});

describe('username', () => {
  const hash = createHasher();
  const toCaller = createCallerResolver(hash, createAddressParser());
  const ctx: RequestContext = {
    method: 'POST',
    path: '/login',
    route: undefined,
    header: () => undefined,
    ip: '203.0.113.7',
    user: undefined,
    raw: {},
  };

  /** Where an attempt at this name is counted; undefined when it is not counted by name. */
  function placeOf(name: unknown, options?: UsernameOptions): unknown {
    const part = username(() => name, options);
    return andThen(toPlace([part], ctx, toCaller(ctx, undefined), hash), (place) =>
      'partition' in place ? place.partition : undefined,
    );
  }

  it('counts all spellings of a name in one place, and others elsewhere', () => {
    expect(placeOf(' BOB\0')).toBe(placeOf('bob'));
    expect(placeOf('Bob@Ex.com')).toBe(placeOf('bob@ex.com '));
    expect(placeOf('Bob@Ex.com')).toMatch(/^username~[0-9a-f]{32}$/);
    expect(placeOf('bob')).not.toBe(placeOf('alice'));
  });

  it('takes a name of 1 MB, and keeps the place short', () => {
    const huge = 'X'.repeat(1_000_000);
    expect(placeOf(huge)).toMatch(/^username~[0-9a-f]{32}$/);
    expect(placeOf(huge)).toBe(placeOf(huge.toLowerCase()));
    expect(placeOf(huge)).not.toBe(placeOf(`${huge}y`));
  });

  // Each in an array of its own, which Vitest takes apart.
  it.each<[unknown]>(
    (
      [
        undefined,
        null,
        '',
        ' ',
        '\0\u200B',
        true,
        {},
        [],
        [{}],
        Array.from({ length: 11 }, () => 'bob'),
        { toString: () => 'bob' },
        { $ne: null },
        Symbol('bob'),
        () => 'bob',
        new Date(0),
      ] as unknown[]
    ).map((name) => [name]),
  )('%o is no username, and no counter that others share', (name) => {
    expect(placeOf(name)).toBeUndefined();
  });

  it('takes a number or a list for the text that an application makes of it, or the client could choose not to be counted', () => {
    expect(placeOf(491701234567)).toBe(placeOf('491701234567'));
    expect(placeOf(12n)).toBe(placeOf('12'));
    expect(placeOf(['Bob'])).toBe(placeOf('bob'));
    expect(placeOf([['bob'], 7])).toBe(placeOf('bob,7'));
  });

  it('stores none as it is: it may be a password in the wrong field', () => {
    expect(placeOf('hunter2secret')).toMatch(/^username~[0-9a-f]{32}$/);
  });

  it('waits for a name that comes later', async () => {
    expect(await placeOf(Promise.resolve(' BOB '))).toBe(placeOf('bob'));
    expect(await placeOf(Promise.resolve(undefined))).toBeUndefined();
    expect(await placeOf(Promise.reject(new Error('no')))).toBeUndefined();
  });

  it("takes the application's own spelling in place of its own", async () => {
    const normalize = (name: string): string => name.replace(/\+.*@/, '@').toLowerCase();
    expect(placeOf('Bob+1@Ex.com', { normalize })).toBe(placeOf('bob@ex.com'));
    expect(placeOf('BOB', { normalize: (name) => name })).not.toBe(placeOf('bob'));
    expect(await placeOf(Promise.resolve('BOB'), { normalize: (name) => name })).not.toBe(placeOf('bob'));
  });

  it('survives a hook that fails, or that answers no text', async () => {
    const normalize = (): string => {
      throw new Error('no');
    };
    expect(placeOf('bob', { normalize })).toBeUndefined();
    expect(await placeOf(Promise.resolve('bob'), { normalize })).toBeUndefined();
    for (const answer of [undefined, null, '', {}, [], Number.NaN, true]) {
      expect(placeOf('bob', { normalize: () => answer as string })).toBeUndefined();
    }
  });
});
