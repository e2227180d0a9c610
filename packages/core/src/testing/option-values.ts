/** What an option takes, at its edges, and what it refuses. */
export interface Values {
  readonly good: readonly unknown[];
  readonly bad: readonly unknown[];
}

/** A bad value whose error names another option, or shows something other than the value. */
export class Odd {
  readonly value: unknown;
  readonly received: string | undefined;
  readonly option: string | undefined;

  constructor(value: unknown, { received, option }: { received?: string; option?: string }) {
    this.value = value;
    this.received = received;
    this.option = option;
  }
}

/** In values that people put into the wrong place. No error may repeat it. */
export const SECRET = 's3cret';
const URL_WITH_PASSWORD = `redis://user:${SECRET}@127.0.0.1:6379`;
const OBJECT_WITH_PASSWORD = { password: SECRET };
const SYMBOL = Symbol('x');

/** Several values on one line of a table. */
export function all(...values: readonly unknown[]): readonly unknown[] {
  return values;
}

/** `new String('x')`: what looks like a value, and is an object. */
export function boxed(value: unknown): object {
  return Object(value) as object;
}

/** What is no options object. Of the collections and the promise, no property would be seen. */
export const NO_OBJECTS: readonly unknown[] = [
  null,
  [],
  [{}],
  '',
  'x',
  5,
  true,
  10n,
  SYMBOL,
  () => ({}),
  boxed('x'),
  new Date(0),
  new Map([['limit', 5]]),
  new Set(['limit']),
  Promise.resolve({}),
  URL_WITH_PASSWORD,
  new URL(URL_WITH_PASSWORD),
];

export function integer(min: number, max: number): Values {
  return {
    good: [min, max],
    bad: [
      min - 1,
      max + 1,
      min + 0.5,
      -1 - min,
      2 ** 53,
      -(2 ** 53),
      Number.NaN,
      Infinity,
      -Infinity,
      String(max),
      '',
      null,
      true,
      [],
      [max],
      {},
      10n,
      10n ** 99n,
      SYMBOL,
      boxed(max),
      URL_WITH_PASSWORD,
      OBJECT_WITH_PASSWORD,
    ],
  };
}

export function duration(minMs: number, maxMs: number): Values {
  return {
    good: [minMs, maxMs, `${minMs}ms`, `${maxMs}ms`],
    bad: [
      minMs - 1,
      maxMs + 1,
      `${maxMs + 1}ms`,
      -1,
      1.5,
      2 ** 60,
      Number.NaN,
      Infinity,
      -Infinity,
      ...all('', ' ', '1', '1 s', ' 1s', '1s\n', '1S', '1.5m', '-1s', '+1s', '1e3ms', '٣s', '5 parsecs', 'ms'),
      `${Math.floor(maxMs / 86_400_000) + 1}d`,
      `${'9'.repeat(400)}ms`,
      null,
      true,
      [],
      ['1s'],
      {},
      10n,
      SYMBOL,
      new Date(1000),
      boxed('1s'),
      URL_WITH_PASSWORD,
      OBJECT_WITH_PASSWORD,
    ],
  };
}

const NO_TEXT: readonly unknown[] = [
  5,
  10n,
  null,
  true,
  [],
  ['x'],
  {},
  boxed('x'),
  SYMBOL,
  () => 'x',
  OBJECT_WITH_PASSWORD,
];

/** Any text of so many characters. */
export function text(max: number): Values {
  return { good: ['x', 'x'.repeat(max), 'é日\r\n\0'], bad: ['', 'x'.repeat(max + 1), ...NO_TEXT] };
}

/** Text of characters that are safe in a header. */
export function printable(max: number): Values {
  const unsafe = ['a\r\nSet-Cookie: x', 'a\n', '\t', 'a\0b', 'é', '日', '\u2028', '\u007F', '\uD800'];
  return { good: [' ', '~', 'a "b" \\c', 'x'.repeat(max)], bad: ['', 'x'.repeat(max + 1), ...unsafe, ...NO_TEXT] };
}

/** Letters, digits, `_` and `-`. */
export function word(max: number): Values {
  const { bad } = printable(max);
  return { good: ['x', 'a-B_9', 'x'.repeat(max)], bad: [...bad, 'a b', 'a:b', '{a}', '%', URL_WITH_PASSWORD] };
}

export function oneOf(...words: readonly string[]): Values {
  const near = words.flatMap((one) => [one.toUpperCase(), `${one} `, boxed(one), [one]]);
  return { good: words, bad: [...near, '', 'x', '__proto__', 'constructor', 5, ...NO_TEXT, URL_WITH_PASSWORD] };
}

export const FLAG: Values = {
  good: [true, false],
  bad: ['', 'true', 0, 1, null, [], {}, boxed(true), URL_WITH_PASSWORD],
};

export const FUNCTION: Values = {
  good: [() => undefined, async () => undefined, function named() {}],
  bad: [
    '',
    'x',
    5,
    10n,
    null,
    true,
    false,
    [],
    {},
    [() => true],
    SYMBOL,
    Promise.resolve(),
    URL_WITH_PASSWORD,
    OBJECT_WITH_PASSWORD,
  ],
};
