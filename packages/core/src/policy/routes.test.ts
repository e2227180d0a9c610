import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { RequestContext } from '../context.ts';
import { ConfigError } from '../errors.ts';
import { createLimiter } from '../limiter.ts';
import { auth } from './auth.ts';
import { definePolicy } from './define-policy.ts';
import type { Policy } from './policy.ts';
import { read } from './presets.ts';
import { routes, type RouteTable } from './routes.ts';

const policy = (name: string): Policy => definePolicy({ name, limits: [{ limit: 1, window: '1m' }] });

interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly route?: string;
  readonly mount?: string;
}

/** The keys whose policies count for a request; none: it is not counted. */
function tableOf(...keys: readonly (string | readonly [key: string, skip: false])[]): (sent: string | Sent) => string {
  const entries = keys.map((key) => (typeof key === 'string' ? [key, policy(key)] : key) as [string, Policy | false]);
  const table = routes(Object.fromEntries(entries));
  return (sent) =>
    table(contextOf(sent))
      .map(({ name }) => name)
      .join(' & ');
}

function contextOf(sent: string | Sent): RequestContext {
  const { method = 'GET', route, ...rest } = typeof sent === 'string' ? { path: sent } : sent;
  return { method, route, ip: undefined, user: undefined, raw: {}, header: () => undefined, ...rest };
}

const skip = (key: string) => [key, false] as const;

describe('the most specific entry counts', () => {
  const keys = [
    '*',
    '/users/*',
    '/users/:id',
    '/users/me',
    '/:page',
    '/users/:id/posts',
    '/',
    '/users/:id/*',
    '/POSTS/New',
  ];
  it.each([
    ['/', '/'],
    ['/users', '/users/*'],
    ['/user', '/:page'],
    ['/users/me', '/users/me'],
    ['/users/ME/', '/users/me'],
    ['/users/7', '/users/:id'],
    ['/users/7/posts', '/users/:id/posts'],
    ['/users/7/posts/1', '/users/:id/*'],
    ['/users/me/posts', '/users/:id/posts'],
    ['/posts/new', '/POSTS/New'],
    ['/posts/old', '*'],
    ['/constructor/toString', '*'],
    ['/__proto__', '/:page'],
  ])('%s → %s', (path, key) => {
    expect(tableOf(...keys)(path)).toBe(key);
    expect(tableOf(...keys.toReversed())(path)).toBe(key);
  });

  it('is found by going back where its end is missing', () => {
    const find = tableOf('/a/b/c', '/a/:x/d', '/:y/b/e', '/a/*');
    expect(['/a/b/c', '/a/b/d', '/a/b/e', '/z/b/e', '/z'].map(find)).toEqual([
      '/a/b/c',
      '/a/:x/d',
      '/a/*',
      '/:y/b/e',
      '',
    ]);
  });

  it('takes a * for nothing, too', () => {
    expect(['/api', '/api/', '/api/x/y', '/apis'].map(tableOf('/api/*'))).toEqual(['/api/*', '/api/*', '/api/*', '']);
  });

  it('with its method before without, and not of another method', () => {
    const find = tableOf('POST /login', '/login', 'PUT|PATCH /x', '/:page', 'DELETE *', '*');
    const ask = (method: string, path: string): string => find({ method, path });
    expect(ask('POST', '/login')).toBe('POST /login');
    expect(ask('GET', '/login')).toBe('/login');
    expect(ask('PATCH', '/x')).toBe('PUT|PATCH /x');
    expect(ask('GET', '/x')).toBe('/:page');
    expect(ask('DELETE', '/a/b')).toBe('DELETE *');
    expect(ask('GET', '/a/b')).toBe('*');
  });

  it('HEAD is GET', () => {
    const find = tableOf('GET /x', 'POST /y');
    expect([find({ method: 'HEAD', path: '/x' }), find({ method: 'HEAD', path: '/y' })]).toEqual(['GET /x', '']);
  });
});

describe('before the framework has routed', () => {
  it.each([
    ['/files/../status', '* & /status'],
    ['/login%2f', '* & /login'],
    ['/x/login%3F', '*'],
    ['/files/a%2Fb', '/files/:name & *'],
    ['//login', '* & /login'],
  ])('%s counts for all that it may mean: %s', (path, keys) => {
    expect(tableOf('*', '/status', '/login', '/files/:name')(path)).toBe(keys);
  });

  const find = tableOf(skip('/health'), skip('/Files/:name/'), skip('/static/*'), '/static/admin/*', '*');
  it.each(['/health', '/Files/x/', '/static', '/static/', '/static/a/b.css', '/static/Admins'])(
    '%s is spelt as the entry',
    (path) => {
      expect(find(path)).toBe('');
    },
  );
  it.each([
    '/Health',
    '/health/',
    '//health',
    '/./health',
    '/%68ealth',
    '/health%00',
    '/health;x',
    '/x/../health',
    '\\health',
    '/files/x/',
    '/Files/x',
    '/Files//',
    '/Files/%78/',
    '/Files/x//',
    '/static/../login',
    '/static/%2e%2e/login',
    '/static//x',
    '/static/a%2fb',
    '/Static/x',
    '/static\\x',
    '/static/.',
  ])('%s is not, and is counted', (path) => {
    expect(find(path)).toBe('*');
  });
  it.each(['/static/admin', '/static/Admin/x', '/static/%61dmin/x', '/static/x/../admin'])(
    '%s has a limit of its own',
    (path) => {
      expect(find(path)).toContain('/static/admin/*');
    },
  );

  it('a skipped entry that does not count is as if it were not there', () => {
    const ask = tableOf(skip('GET /a/b'), '/a/b', skip('/a/c'), '/a/:x');
    expect(['/a/b', '/a/B', '/a/c', '/a/c/'].map(ask)).toEqual(['', '/a/b', '', '/a/:x']);
  });
});

describe('once the framework has routed', () => {
  const keys = [
    skip('/health'),
    skip('/static/*'),
    '/static/admin/*',
    skip('/p/:a/b'),
    '/p/x/:y',
    '/users/:id',
    '/users/me',
    '/api/*',
    '/t/:tenant/x',
    '/x',
    '*',
  ];
  it.each<[what: string, sent: Sent, expected: string]>([
    ['its pattern decides', { path: '/users/7', route: '/users/:user' }, '/users/:id'],
    ['however the path is spelt', { path: '/users/a%2Fb', route: '/users/:user' }, '/users/:id'],
    ['also that it is not counted', { path: '/HEALTH/', route: '/health' }, ''],
    ['not even when it is encoded', { path: '/%68ealth', route: '/health' }, ''],
    ['a * takes parameters and text', { path: '/api/users/7', route: '/api/users/:id' }, '/api/*'],
    ['a pattern with a condition', { path: '/users/7', route: '/users/:id(\\d+)' }, '/users/:id'],
    [
      'entries for some of its paths count as well',
      { path: '/users/me', route: '/users/:id' },
      '/users/:id & /users/me',
    ],
    ['in any spelling', { path: '/users/%6De', route: '/users/:id' }, '/users/:id & /users/me'],
    ['also if it is not counted', { path: '/static/admin/x', route: '/static/*' }, '/static/admin/*'],
    ['and others do not', { path: '/static/a/b', route: '/static/*' }, ''],
    [
      'a pattern with a parameter lets nothing off that another entry limits',
      { path: '/p/x/b', route: '/p/:a/b' },
      '/p/x/:y',
    ],
    ['but what is handed on below a path has to be plain', { path: '/static/..%2flogin', route: '/static/*' }, '*'],
    ['not even in a mounted router', { path: '/users/me', mount: '/users', route: '/me' }, '/users/me'],
    ['a mount point is before it', { path: '/API/y', mount: '/API', route: '/y' }, '/api/*'],
    ['a mount point is not decoded', { path: '/t/../x', mount: '/t/..', route: '/x' }, '/t/:tenant/x'],
    ['a pattern with no entry leaves it to the path', { path: '/users/7', route: '/:a/:b' }, '/users/:id'],
    ['a pattern of everything, too', { path: '/users/7', route: '/*' }, '/users/:id'],
    ['an optional part is no proof', { path: '/health', route: '/health{/:x}' }, ''],
    ['so its spelling matters', { path: '/Health', route: '/health{/:x}' }, '*'],
    ['a pattern that is not of this path adds to it', { path: '/a/x', route: '/x' }, '/x & *'],
    ['and does not let it off', { path: '/a/health', route: '/health' }, '*'],
    ['nor where it would be after dots are resolved', { path: '/../health', route: '/health' }, '*'],
  ])('%s', (_, sent, expected) => {
    expect(tableOf(...keys)(sent)).toBe(expected);
  });
});

it('what no entry names is not counted', () => {
  expect(['/x', '/login/y'].map(tableOf('/login'))).toEqual(['', '']);
});

it('several policies are decided together', () => {
  const [a, b] = [policy('a'), policy('b')];
  const table = routes({ '/x': [a, b], '/:y': a, '*': b });
  expect(table(contextOf('/x'))).toEqual([a, b]);
  expect(table(contextOf('/%78'))).toEqual([a, b]);
  expect(table.policies).toEqual([a, b]);
});

describe('a limiter', () => {
  it('knows the policies of a table before any request', () => {
    const limiter = createLimiter();
    limiter.register(routes({ '/a': read(), '*': read() }));
    expect(() => limiter.register(routes({ '/b': read({ limit: 5 }) }))).toThrow('Two policies are named "read"');
  });

  it('takes tables with several policies that shape, but not in one entry', () => {
    const shaping = (name: string): Policy =>
      definePolicy({
        name,
        limits: [{ algorithm: 'leaky-bucket', limit: 1, window: '1s', shape: { maxDelay: '1s' } }],
      });
    expect(() => createLimiter().register(routes({ '/a': shaping('a'), '/b': shaping('b') }))).not.toThrow();
    expect(() => routes({ '/a': [shaping('a'), shaping('b')] })).toThrow('at most one shapes');
  });

  it('refuses a chooser that names something else', () => {
    const chooser = Object.assign(() => false as const, { policies: [{} as Policy] });
    expect(() => createLimiter().register(chooser)).toThrow('policy must be a policy made by definePolicy()');
  });
});

describe('a wrong table is refused', () => {
  it.each([
    ['/x', '/X/'],
    ['/users/:id', '/users/:name'],
    ['*', '/*'],
    ['GET|POST /x', 'POST /x'],
    ['GET|GET /x', ''],
    ['/é', '/É'],
  ])('two keys for one route: %j, %j', (one, two) => {
    const table = Object.fromEntries([one, two].filter(Boolean).map((key) => [key, policy('p')]));
    expect(() => routes(table)).toThrow(`about another route than '${one}'`);
  });
});

describe('whatever the spelling', () => {
  const find = tableOf(
    'POST /login',
    '/login',
    '/users/:id/posts',
    '/api/v1/*',
    skip('/health'),
    skip('/static/*'),
    '*',
  );
  const segment = fc.stringMatching(/^[a-z0-9]{1,8}$/);
  const path = fc.oneof(
    fc.constantFrom('/login', '/api/v1'),
    segment.map((id) => `/users/${id}/posts`),
    fc.array(segment, { maxLength: 3 }).map((rest) => `/${['api', 'v1', ...rest].join('/')}`),
  );

  /** Spells it anew, by one choice for each character. */
  function respell(plain: string, choices: readonly number[]): string {
    return Array.from(plain)
      .map((char, i) => {
        const choice = choices[i % choices.length] ?? 0;
        if (char === '/') return ['/', '//', '/./', '/x/../', '\\', '/%2e/', '%2f', '/x//..//'][choice % 8];
        const code = char.charCodeAt(0).toString(16);
        return [char, char.toUpperCase(), `%${code}`, `%${code.toUpperCase()}`][choice % 4];
      })
      .join('');
  }

  it('the same limit counts', () => {
    fc.assert(
      fc.property(
        path,
        fc.array(fc.nat(7), { minLength: 1, maxLength: 40 }),
        fc.constantFrom('', '/', '//', ';a=b', '/.'),
        (plain, choices, end) => {
          const expected = find(plain);
          expect(find(respell(plain, choices) + end).split(' & ')).toContain(expected);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('only the exact one is not counted', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('/health', '/static/a/b'),
        fc.array(fc.nat(7), { minLength: 1, maxLength: 12 }),
        (plain, choices) => {
          const spelt = respell(plain, choices);
          const isSkipped = spelt === plain || /^\/static\/[aA]\/[bB]$/.test(spelt);
          expect(find(spelt) === '').toBe(isSkipped);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('nothing makes it throw', () => {
    const any = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom(...Array.from('/.%2eF\\;:*?(){}é\uD83D')) }),
    );
    fc.assert(
      fc.property(
        fc.string(),
        any,
        fc.option(any, { nil: undefined }),
        fc.option(any, { nil: undefined }),
        (method, at, route, mount) => {
          const sent: Sent = {
            method,
            path: at,
            ...(route !== undefined && { route }),
            ...(mount !== undefined && { mount }),
          };
          expect(typeof find(sent)).toBe('string');
        },
      ),
      { numRuns: 2000 },
    );
  });
});

it("has the types of its framework's request", () => {
  interface Request {
    readonly body: { readonly email: string };
  }
  const table: RouteTable<Request> = routes({
    'POST /login': auth({ username: (req) => (expectTypeOf(req).toEqualTypeOf<Request>(), req.body.email) }),
    '/x': [read(), read({ name: 'b' })],
    '/health': false,
  });
  expectTypeOf(table.policies).toEqualTypeOf<readonly Policy<Request>[]>();
  // @ts-expect-error -- true is no policy
  expect(() => routes({ '/x': true })).toThrow(ConfigError);
});
