import { describe, expect, it } from 'vitest';
import type { RequestContext } from '../context.ts';
import { createAddressParser } from './client-ip.ts';
import { createHasher } from './hash.ts';
import { createCallerResolver } from './identity.ts';
import { partition, type PartitionPart, toPlace } from './partition.ts';

const hash = createHasher();
const toCaller = createCallerResolver(hash, createAddressParser());

function placeOf(parts: readonly PartitionPart<unknown>[], facts: Partial<RequestContext> = {}) {
  const ctx: RequestContext = {
    method: 'GET',
    path: '/',
    route: '/users/:id',
    header: () => undefined,
    ip: '2001:db8:1:2::3',
    user: undefined,
    raw: {},
    ...facts,
  };
  return toPlace(parts, ctx, toCaller(ctx, undefined), hash);
}

const named = (value: unknown) => partition('tenant', () => value as string);

describe('toPlace', () => {
  it('puts everything about one address into one slot', () => {
    const tag = '2001:db8:1::/48';
    expect(placeOf(['ip'])).toEqual({ partition: '2001:db8:1:2::/64', tag });
    expect(placeOf(['site'])).toEqual({ partition: '2001:db8:1::/48', tag });
    expect(placeOf(['identity'])).toMatchObject({ tag });
    expect(placeOf(['ip', named('a')])).toEqual({ partition: '2001:db8:1:2::/64,tenant.a', tag });
  });

  it('gives everything else a slot of its own', () => {
    expect(placeOf(['global'])).toEqual({ partition: 'global', tag: 'global' });
    expect(placeOf(['user'], { user: 'bob' })).toEqual({ partition: 'u.bob', tag: 'u.bob' });
    expect(placeOf(['identity'], { user: 'bob' })).toEqual({ partition: 'u.bob', tag: 'u.bob' });
  });

  it('joins tuples unambiguously', () => {
    const join = (a: string, b: string) => placeOf([partition('a', () => a), partition('b', () => b)]);
    expect(join('x', 'y')).toEqual({ partition: 'a.x,b.y', tag: 'a.x,b.y' });
    expect(join('x,b.y', 'z')).not.toEqual(join('x', 'y,b.z'));
  });

  it('bounds length and characters, whatever the value', () => {
    for (const value of ['x'.repeat(1_000_000), '{a}', 'a{b}c', 'a:b', 'a\r\nb', '\0', '日本', 'Bob@Example.com']) {
      const place = placeOf([named(value), partition('two', () => value), 'ip']);
      expect(place).toMatchObject({ partition: expect.stringMatching(/^[\w.~,:/-]{1,64}$/) as string });
    }
    expect(placeOf([named('__proto__')])).toMatchObject({ partition: 'tenant.__proto__' });
    expect(placeOf([named(7)])).toMatchObject({ partition: 'tenant.7' });
  });

  it('never shares a counter between requests without a value', async () => {
    const dropped = { part: 'tenant', custom: true };
    for (const value of [undefined, null, '', {}, [], { id: 'x' }, Number.NaN, true])
      expect(placeOf([named(value)])).toEqual(dropped);
    expect(
      placeOf([
        partition('tenant', () => {
          throw new Error('no');
        }),
      ]),
    ).toEqual(dropped);
    expect(await placeOf([partition('tenant', () => Promise.reject(new Error('no')))])).toEqual(dropped);
    expect(await placeOf([partition('tenant', () => Promise.resolve('late')), 'ip'])).toMatchObject({
      partition: 'tenant.late,2001:db8:1:2::/64',
    });
    expect(placeOf(['user'])).toEqual({ part: 'user', custom: false });
    expect(placeOf(['apiKey'])).toEqual({ part: 'apiKey', custom: false });
  });
});
