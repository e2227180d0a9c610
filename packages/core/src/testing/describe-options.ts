import { describe, expect, it } from 'vitest';
import type { ConfigError } from '../errors.ts';
import { pathTo, show } from '../options.ts';
import { NO_OBJECTS, Odd, SECRET, type Values } from './option-values.ts';

const NO_NAMES = ['zzzzzzzzzzzz', '__proto__', 'constructor', '', '日本日本', 'a\r\nb\u2028c', 'x'.repeat(1000)];

type Make<T> = (value: T) => unknown;

/** An option, with the other options that it needs. */
interface Case extends Values {
  readonly with?: object;
  readonly required?: true;
  /** What errors call it, where that is not the path of the options and its name. */
  readonly option?: string;
}

export interface OptionsUnderTest<T> {
  /** What errors call the options. */
  readonly at: string;
  /** Options that are valid; one of them is changed at a time. */
  readonly base: T;
  readonly make: Make<T>;
  readonly options: Readonly<Record<string, Case>>;
  /** What is no options object; some frameworks see to part of that themselves. */
  readonly noObjects?: readonly unknown[];
}

/** An option or an argument, with values that it refuses, naming option, rule and value, and values that it takes. */
export function describeValues(option: string, make: Make<never>, { good, bad }: Values): void {
  it(`${option} takes its edges`, async () => {
    for (const value of good) expect([value, await errorOf(make, value)]).toEqual([value, undefined]);
  });

  // Some are a framework's own, which checks them itself.
  if (bad.length === 0) return;
  it(`${option} refuses ${bad.length} bad values`, async () => {
    for (const one of bad) {
      const { value, received = show(value), option: at = option } = one instanceof Odd ? one : { value: one };
      const error = await errorOf(make, value);
      expectConfigError(error, 'invalid-option', at, `${at} given ${show(value)}`);
      const [start, end] = [`${at} must be `, `; received ${received}. (docs/errors.md#invalid-option)`];
      const rule = error.message.slice(start.length, -end.length) || 'a rule';
      expect(error.message).toBe(`${start}${rule}${end}`);
    }
  });
}

/** All options of something: their values, undefined, misspelt, and beside what is no option. */
export function describeOptions<T extends object>({
  at,
  base,
  make,
  options,
  noObjects = NO_OBJECTS,
}: OptionsUnderTest<T>): void {
  const names = Object.keys(options);
  const makeWith = (added: object): unknown => make({ ...base, ...added });

  describe(`options: ${at}`, () => {
    it('are all in this table', async () => {
      const error = await errorOf(makeWith, { zzzzzzzzzzzz: 1 });
      const known = /; known options: (.*) \(docs/.exec(error?.message ?? '')?.[1]?.split(', ') ?? [];
      expect(known.toSorted()).toEqual(names.toSorted());
    });

    it('are refused by every name that is none', async () => {
      for (const name of NO_NAMES) {
        const added = Object.fromEntries([[name, 1]]);
        for (const bad of [{ ...base, ...added }, asInstance(base, added)]) {
          // Assigned, __proto__ is the prototype and no property.
          if (!Object.hasOwn(bad, name)) continue;
          const error = await errorOf(make, bad);
          expectConfigError(error, 'unknown-option', pathTo(at, name), show(name));
          expect(error.message).toContain(`${at} has no option ${show(name)}; `);
        }
      }
    });

    it('are refused misspelt, by the name that was meant', async () => {
      for (const name of names) {
        for (const misspelt of [name.slice(0, -1), `${name}x`, name.toUpperCase()]) {
          if (names.includes(misspelt)) continue;
          const error = await errorOf(makeWith, { [misspelt]: 1 });
          expectConfigError(error, 'unknown-option', `${at}.${misspelt}`, misspelt);
          expect(error.message).toContain(`did you mean ${name}?`);
        }
      }
    });

    it('are an object', async () => {
      for (const value of noObjects) {
        const error = await errorOf(make, value);
        expectConfigError(error, 'invalid-option', at, show(value));
        expect(error.message).toContain(`; received ${show(value)}. (`);
      }
    });

    it('may be frozen, or an instance of a class', async () => {
      for (const same of [Object.freeze({ ...base }), asInstance(base)])
        expect(await errorOf(make, same)).toBeUndefined();
    });

    it('are as if left out when they are undefined', async () => {
      const optional = names.filter((name) => options[name]?.required === undefined && !(name in base));
      const without = JSON.stringify(await make(base));
      for (const some of [...optional.map((name) => [name]), optional]) {
        const added = Object.fromEntries(some.map((name) => [name, undefined]));
        expect([some, JSON.stringify(await makeWith(added))]).toEqual([some, without]);
      }
    });

    for (const [name, { required, with: needed, option = `${at}.${name}`, good, bad }] of Object.entries(options)) {
      const missing = required === undefined ? [] : [undefined];
      describeValues(option, (value: unknown) => makeWith({ ...needed, [name]: value }), {
        good,
        bad: [...missing, ...bad],
      });
    }
  });
}

/** As an instance of a class of the application's. */
function asInstance(...parts: readonly object[]): object {
  return Object.assign(Object.create({ method() {} }) as object, ...parts) as object;
}

function expectConfigError(
  error: ConfigError | undefined,
  code: string,
  option: string,
  given: string,
): asserts error is ConfigError {
  const { message = '' } = error ?? {};
  const seen = { code: error?.code, option: error?.option, isConfigError: error?.isTollgateConfigError };
  expect({
    ...seen,
    given,
    isOneLine: !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(message),
    isShort: message.length < 600,
    hasPage: message.endsWith(` (docs/errors.md#${code})`),
    leaks: message.includes(SECRET),
  }).toEqual({
    given,
    code,
    option,
    isConfigError: true,
    isOneLine: true,
    isShort: true,
    hasPage: true,
    leaks: false,
  });
}

/** What making something with a value throws; undefined when it makes it. */
async function errorOf(make: Make<never>, value: unknown): Promise<ConfigError | undefined> {
  try {
    const made = (await make(value as never)) as { close?(): unknown } | undefined;
    await made?.close?.();
  } catch (error) {
    return error as ConfigError;
  }
  return undefined;
}
