import { describe, expect, it } from 'vitest';
import type { RequestContext } from '../context.ts';
import { createAddressParser } from './client-ip.ts';
import { createHasher } from './hash.ts';
import { createCallerResolver, type IdentifiedUser, type Identity, userId } from './identity.ts';

const toCaller = createCallerResolver(createHasher(), createAddressParser());

function identityOf(
  facts: { user?: unknown; ip?: string; headers?: Record<string, string> },
  identified?: IdentifiedUser,
): Identity {
  const { user, ip = '203.0.113.7', headers = {} } = facts;
  const ctx: RequestContext = {
    method: 'GET',
    path: '/',
    route: undefined,
    header: (name) => headers[name],
    ip,
    user,
    raw: {},
  };
  return toCaller(ctx, identified).identity;
}

const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl';

describe('identity', () => {
  it('is the user, else the API key, else address and user agent', () => {
    const headers = { 'x-api-key': 'secret', 'user-agent': 'curl' };
    expect(identityOf({ user: { id: 42 }, headers })).toEqual({ kind: 'user', token: 'u.42', verified: true });
    expect(identityOf({ headers })).toMatchObject({ kind: 'apiKey', verified: false });
    expect(identityOf({ headers: { 'user-agent': 'curl' } })).toMatchObject({ kind: 'ip+ua', verified: false });
  });

  it('takes the application at its word, verified or not', () => {
    expect(identityOf({ user: 'framework' }, { id: 'ours' })).toEqual({
      kind: 'user',
      token: 'u.ours',
      verified: true,
    });
    // Who only claims to be 7 must not use up the budget of 7.
    expect(identityOf({}, { id: 7, verified: false })).toEqual({ kind: 'user', token: 'claim.7', verified: false });
    // Without an id, nothing is said about the framework's user.
    expect(identityOf({ user: 7 }, { verified: false } as IdentifiedUser)).toMatchObject({
      token: 'u.7',
      verified: true,
    });
    const throwing = {
      id: 7,
      get verified(): boolean {
        throw new Error('no');
      },
    };
    expect(identityOf({}, throwing)).toMatchObject({ token: 'claim.7', verified: false });
    expect(identityOf({}, { id: '' })).toMatchObject({ kind: 'ip+ua' });
  });

  it('never holds the API key that was sent, not even where it serves as an id', () => {
    const { token } = identityOf({ headers: { 'x-api-key': 'sk_live_1' } }, { id: 'sk_live_1' });
    expect(token).toMatch(/^u~[0-9a-f]{32}$/);
  });

  it('never holds an API key, an e-mail or another long or odd value as it is', () => {
    for (const headers of [{ 'x-api-key': 'secret-1' }, { authorization: 'Bearer secret-1' }]) {
      expect(identityOf({ headers }).token).toMatch(/^k~[0-9a-f]{32}$/);
    }
    for (const id of ['bob@example.com', 'a:b', '{x}', 'a,b', 'x'.repeat(41), 'x\n', '\uD800']) {
      expect(identityOf({ user: id }).token).toMatch(/^u~[0-9a-f]{32}$/);
    }
  });

  it('takes a bearer token for a key unless it is a JWT, which changes with each refresh', () => {
    expect(identityOf({ headers: { authorization: 'bearer sk_live_1' } }).kind).toBe('apiKey');
    for (const jwt of [JWT, 'eyJhbGciOiJkaXIifQ..aXY.Y2lwaGVy.dGFn', 'eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.'])
      expect(identityOf({ headers: { authorization: `Bearer ${jwt}` } }).kind).toBe('ip+ua');
    for (const opaque of ['eyJ', 'eyJhbGciOiJIUzI1NiJ9.e30', 'v4.local.x', 'eyJa.b.c.d'])
      expect(identityOf({ headers: { authorization: `Bearer ${opaque}` } }).kind).toBe('apiKey');
    for (const authorization of ['', 'Bearer', 'Bearer ', 'Basic dTpw', 'Bearer a b']) {
      expect(identityOf({ headers: { authorization } }).kind).toBe('ip+ua');
    }
    expect(identityOf({ headers: { 'x-api-key': '' } }).kind).toBe('ip+ua');
  });

  it('tells user agents of one address apart, and no spellings of one address', () => {
    const as = (ip: string, agent: string) => identityOf({ ip, headers: { 'user-agent': agent } }).token;
    expect(as('203.0.113.7', 'a')).not.toBe(as('203.0.113.7', 'b'));
    expect(as('203.0.113.7', 'a')).toBe(as('::ffff:203.0.113.7', 'a'));
    expect(as('203.0.113.7', 'a').length).toBeLessThanOrEqual(64);
    expect(as('ffff:ffff:ffff:ffff::1', 'a').length).toBeLessThanOrEqual(64);
  });
});

describe('userId', () => {
  it.each([
    ['alice', 'alice'],
    [0, '0'],
    [12n, '12'],
    [{ id: 'a' }, 'a'],
    [{ id: 5 }, '5'],
    [{ sub: 's' }, 's'],
    [{ id: { $oid: 'x' }, sub: 's' }, 's'],
    ['', undefined],
    [Number.NaN, undefined],
    [undefined, undefined],
    [null, undefined],
    [{}, undefined],
    [{ id: '' }, undefined],
    [{ id: null, sub: null }, undefined],
    [true, undefined],
    [() => 'x', undefined],
  ])('%o gives %s', (user, id) => {
    expect(userId(user)).toBe(id);
  });
});
