import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { deviceTokens } from './device-token.ts';

const SECRET = 'a secret of the tests, and of nothing else';
const DAY_MS = 86_400_000;
const devices = deviceTokens({ secret: SECRET });

describe('a device token', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: 1_700_000_000_123 }));
  afterEach(() => void vi.useRealTimers());

  it('is good for the name that it was issued for, in all spellings, and tells which device it is', () => {
    const token = devices.issue('Ada@Ex.com');
    const id = devices.verify(token, 'ada@ex.com');
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    for (const name of [' ADA@EX.COM ', 'ada\u200B@ex.com', ['ada@ex.com']])
      expect(devices.verify(token, name)).toBe(id);
  });

  it('is another device each time', () => {
    const ids = Array.from({ length: 100 }, () => devices.verify(devices.issue('ada'), 'ada'));
    expect(new Set(ids).size).toBe(100);
    expect(ids).not.toContain(undefined);
  });

  it('fits into a cookie, whoever it is for, and does not tell who', () => {
    for (const name of ['olivia', 'ada@example.com', 'x'.repeat(10_000), '\uFDFA'.repeat(100), '; Path=/', '\uD800']) {
      const token = devices.issue(name);
      expect(token).toMatch(/^[\w.-]{1,200}$/);
      expect(token).not.toContain(name);
      expect(devices.verify(token, name)).toBeDefined();
    }
    const [one, other] = ['ada', 'bob'].map((name) => devices.issue(name).split('.')[3]);
    expect(one).not.toBe(other);
  });

  it.each<[unknown]>(
    (
      [
        undefined,
        null,
        '',
        ' ',
        'bob',
        'ad',
        'adaa',
        'ad a',
        true,
        {},
        [],
        ['ada', 'ada'],
        Symbol('ada'),
        { toString: () => 'ada' },
      ] as unknown[]
    ).map((name) => [name]),
  )('of ada is none of %o', (name) => {
    expect(devices.verify(devices.issue('ada'), name)).toBeUndefined();
  });

  it.each<[unknown]>(
    (
      [
        undefined,
        null,
        '',
        'v1',
        'v1...',
        true,
        7,
        {},
        [],
        Symbol('v1'),
        () => 'v1',
        'v'.repeat(1_000_000),
        `v1.${'0'.repeat(1_000_000)}`,
        `v1.${'0'.repeat(32)}.loyw3v28.${'0'.repeat(64)}`,
        `v1.${'0'.repeat(32)}.zzzzzzzzz.${'0'.repeat(64)}`,
      ] as unknown[]
    ).map((token) => [token]),
  )('is not made up: %o', (token) => {
    expect(devices.verify(token, 'ada')).toBeUndefined();
  });

  it('is bad in any other spelling', () => {
    const token = devices.issue('ada');
    for (const other of [
      ` ${token}`,
      `${token} `,
      `${token}\n`,
      `${token}.`,
      token.toUpperCase(),
      token.slice(0, -1),
      [token],
    ])
      expect(devices.verify(other, 'ada')).toBeUndefined();
  });

  it('is bad as soon as one character is another, is missing or is too much', () => {
    const token = devices.issue('ada');
    const at = fc.nat({ max: token.length - 1 });
    fc.assert(
      fc.property(at, fc.string({ unit: 'binary', minLength: 0, maxLength: 2 }), (i, text) => {
        const changed = token.slice(0, i) + text + token.slice(i + 1);
        expect(devices.verify(changed, 'ada') !== undefined).toBe(changed === token);
      }),
    );
    const alphabet = '0123456789abcdefghijklmnopqrstuvwxyzABCDEF._-'.split('');
    for (let i = 0; i < token.length; i++) {
      for (const character of alphabet) {
        const changed = token.slice(0, i) + character + token.slice(i + 1);
        if (changed !== token && devices.verify(changed, 'ada') !== undefined) expect(changed).toBe('refused');
      }
    }
  });

  it('takes any name, and is good for no other', () => {
    const name = fc.string({ unit: 'binary', minLength: 1 }).map((text) => `n${text}`);
    fc.assert(
      fc.property(name, name, (one, other) => {
        const plain = deviceTokens({ secret: SECRET, normalize: (text) => text });
        const token = plain.issue(one);
        expect(plain.verify(token, one)).toBeDefined();
        expect(plain.verify(token, other) !== undefined).toBe(one === other);
      }),
    );
  });

  it('survives any token and any name', () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (token, name) => {
        expect(devices.verify(token, name)).toBeUndefined();
        expect(devices.verify(token, 'ada')).toBeUndefined();
      }),
    );
  });

  it('is good for a year, or as long as it is said', () => {
    const brief = deviceTokens({ secret: SECRET, maxAge: '10s' });
    const token = devices.issue('ada');
    const issuedMs = Date.now();
    for (const [laterMs, inYear, inSeconds] of [
      [9999, true, true],
      [10_000, true, false],
      [365 * DAY_MS - 1, true, false],
      [365 * DAY_MS, false, false],
    ] as const) {
      vi.setSystemTime(issuedMs + laterMs);
      expect(devices.verify(token, 'ada') !== undefined).toBe(inYear);
      expect(brief.verify(token, 'ada') !== undefined).toBe(inSeconds);
    }
  });

  it('may come from an instance whose clock is a minute ahead, and not from further in the future', () => {
    const token = devices.issue('ada');
    const issuedMs = Date.now();
    vi.setSystemTime(issuedMs - 60_000);
    expect(devices.verify(token, 'ada')).toBeDefined();
    vi.setSystemTime(issuedMs - 60_001);
    expect(devices.verify(token, 'ada')).toBeUndefined();
  });

  it('survives a change of secret, as long as the old one is listed', () => {
    const other = 'another secret of the tests, as long as that';
    const token = devices.issue('ada');
    const changing = deviceTokens({ secret: [other, SECRET] });
    const changed = deviceTokens({ secret: other });
    expect(changing.verify(token, 'ada')).toBe(devices.verify(token, 'ada'));
    expect(changed.verify(token, 'ada')).toBeUndefined();
    expect(changed.verify(changing.issue('ada'), 'ada')).toBeDefined();
    expect(devices.verify(changing.issue('ada'), 'ada')).toBeUndefined();
  });

  it("takes the application's own spelling, also one that fails", () => {
    const exact = deviceTokens({ secret: SECRET, normalize: (name) => name });
    expect(exact.verify(exact.issue('Ada'), 'Ada')).toBeDefined();
    expect(exact.verify(exact.issue('Ada'), 'ada')).toBeUndefined();
    const failing = deviceTokens({
      secret: SECRET,
      normalize: () => {
        throw new Error('no');
      },
    });
    expect(failing.verify(devices.issue('ada'), 'ada')).toBeUndefined();
    const odd = deviceTokens({ secret: SECRET, normalize: () => undefined as never });
    expect(odd.verify(devices.issue('ada'), 'ada')).toBeUndefined();
  });

  it('is not issued to nobody', () => {
    for (const name of ['', ' ', '\u200B', undefined, null, {}])
      expect(() => devices.issue(name as string)).toThrow('deviceTokens.issue needs the name of the account.');
  });
});
