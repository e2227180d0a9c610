import { describe, expect, it } from 'vitest';
import { ConfigError } from './errors.ts';
import { checkOptions, show } from './options.ts';

/** As libraries for configuration make them: asked for anything else, it throws. */
function strict(target: object): object {
  const get = (_: object, name: string | symbol): unknown => {
    if (typeof name === 'string' && Object.hasOwn(target, name)) return (target as Record<string, unknown>)[name];
    throw new ReferenceError(String(name));
  };
  return new Proxy(target, { get });
}

describe('checkOptions', () => {
  it('names an unknown option and the one that was meant', () => {
    expect(() => checkOptions('policy', { limts: [] }, ['name', 'limits'])).toThrow(
      'policy has no option "limts"; did you mean limits? (docs/errors.md#unknown-option)',
    );
  });

  it('lists the known options when nothing is near', () => {
    expect(() => checkOptions('policy', { banana: 1 }, ['name', 'limits'])).toThrow('known options: name, limits');
  });

  it('takes a proxy that throws at what it does not know', () => {
    expect(show(strict({ limit: 5 }))).toBe('an object');
    expect(() => checkOptions('policy', strict({ limit: 5 }), ['limit'])).not.toThrow();
  });

  it('means the nearest of those that are near', () => {
    expect(() => checkOptions('policy', { node: 1 }, ['name', 'mode'])).toThrow('did you mean mode?');
  });

  it.each([null, undefined, 5, 'x', [], new Map(), Promise.resolve({})])('refuses %s in place of options', (value) => {
    expect(() => checkOptions('policy', value, [])).toThrow('policy must be an object; received');
  });

  it('carries a code and the option', () => {
    let error: unknown;
    try {
      checkOptions('policy', { a: 1 }, []);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(ConfigError);
    expect(error).toMatchObject({ code: 'unknown-option', option: 'policy.a', isTollgateConfigError: true });
  });
});

describe('show', () => {
  it.each([
    [5, '5'],
    [Number.NaN, 'NaN'],
    ['5', '"5"'],
    ['a\nb', String.raw`"a\nb"`],
    ['a\u2028b\u009Bc\u202Ed', String.raw`"a\u{2028}b\u{9b}c\u{202e}d"`],
    ['redis://u:secret@h', '"redis://…"'],
    ['REDIS_URL=rediss://h:sec\nret', '"REDIS_URL=rediss://…"'],
    ['https://secret@h', '"https://…"'],
    ['https://h/path', '"https://h/path"'],
    ['x'.repeat(100), `"${'x'.repeat(60)}"…`],
    [{ password: 'secret' }, 'an object'],
    [[1], 'an array'],
    [new Map([['password', 'secret']]), 'a Map'],
    [Promise.resolve('secret'), 'a Promise'],
    [new Error('secret'), 'an Error'],
    [Object('secret'), 'a String'],
    [null, 'null'],
    [() => 1, 'a function'],
    [5n, '5n'],
    [10n ** 99n, `1${'0'.repeat(59)}…`],
    [Symbol('secret'), 'a symbol'],
  ])('%s', (value, text) => {
    expect(show(value)).toBe(text);
  });
});
