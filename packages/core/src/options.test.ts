import { describe, expect, it } from 'vitest';
import { ConfigError } from './errors.ts';
import { checkOptions, show } from './options.ts';

describe('checkOptions', () => {
  it('names an unknown option and the one that was meant', () => {
    expect(() => checkOptions('policy', { limts: [] }, ['name', 'limits'])).toThrow(
      'policy has no option "limts"; did you mean limits? (docs/errors.md#unknown-option)',
    );
  });

  it('lists the known options when nothing is near', () => {
    expect(() => checkOptions('policy', { banana: 1 }, ['name', 'limits'])).toThrow('known options: name, limits');
  });

  it.each([null, undefined, 5, 'x', []])('refuses %s in place of options', (value) => {
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
    ['x'.repeat(100), `"${'x'.repeat(60)}"…`],
    [{ password: 'secret' }, 'an object'],
    [[1], 'an array'],
    [null, 'null'],
    [() => 1, 'a function'],
    [5n, '5n'],
  ])('%s', (value, text) => {
    expect(show(value)).toBe(text);
  });
});
