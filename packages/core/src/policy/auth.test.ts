import { describe, expect, expectTypeOf, it, vi } from 'vitest';
import type { RequestContext, ResponseFacts } from '../context.ts';
import type { Decision } from '../decision.ts';
import { createLimiter } from '../limiter.ts';
import { memoryStore } from '../stores/memory-store.ts';
import { createClock } from '../testing/index.ts';
import type { Warning } from '../warnings.ts';
import { auth } from './auth.ts';
import type { Policy } from './policy.ts';

describe('auth', () => {
  const attempt = (from: { ip: string; name: string }) => contextOf({ ip: from.ip, raw: { name: from.name } });
  const policy = auth<{ name: string }>({ username: (req) => req.name, success: ({ status }) => status === 200 });
  const ATTACKERS: readonly [string, number, (i: number) => { ip: string; name: string }, number, number][] = [
    ['1 address on 1 name', 60, () => ({ ip: '203.0.113.7', name: 'ada' }), 5, 100],
    ['1 address on 100 names', 200, (i) => ({ ip: '203.0.113.7', name: `u${i % 100}` }), 20, 2500],
    ['100 addresses on 1 name', 200, (i) => ({ ip: `203.0.113.${i % 100}`, name: 'ada' }), 10, 100],
    ['/64s of 1 /48, each on a name', 300, (i) => ({ ip: `2001:db8:9:${i}::1`, name: `u${i}` }), 200, 2500],
    ['spellings of 1 name', 60, (i) => ({ ip: '203.0.113.7', name: i % 2 ? 'ADA ' : 'ada\u200B' }), 5, 100],
  ];

  it.each(ATTACKERS)('%s: a minute of %d attempts', (_, attempts, from, passes) => {
    const limiter = createLimiter({ store: memoryStore({ now: createClock() }) });
    const passed = Array.from({ length: attempts }, (__, i) => limiter.check(attempt(from(i)), policy) as Decision);
    expect(passed.filter(({ allowed }) => allowed)).toHaveLength(passes);
  });

  it.each(ATTACKERS)('%s: a slow day', (_, __, from, ___, most) => {
    const clock = createClock();
    const limiter = createLimiter({ store: memoryStore({ now: clock }) });
    let passed = 0;
    for (let minute = 0; minute < 1440; minute++) {
      for (let i = 0; i < 25; i++) if ((limiter.check(attempt(from(i * 4)), policy) as Decision).allowed) passed++;
      clock.advance(60_000);
    }
    expect(passed).toBe(most);
  });

  it('a log-in forgets the attempts of its address on its name, and no others', async () => {
    const limiter = createLimiter({ store: memoryStore({ now: createClock() }) });
    const remaining: number[][] = [];
    for (const status of [401, 401, 200]) {
      let end: (response: ResponseFacts) => void = () => {};
      const ctx = {
        ...attempt({ ip: '203.0.113.7', name: 'ada' }),
        onFinish: (listener: typeof end) => (end = listener),
      };
      await limiter.check(ctx, policy);
      end({ status, aborted: false } as ResponseFacts);
      remaining.push((limiter.peek(ctx, policy) as Decision).outcomes.map((outcome) => outcome.remaining));
    }
    expect(remaining).toEqual([
      [4, 19, 9, 99],
      [3, 18, 8, 98],
      [5, 17, 7, 97],
    ]);
  });

  it('tells when to come back, and nothing else', () => {
    expect(policy.disclose).toBe('retry-after');
  });

  it("infers the framework's request from where it is used", () => {
    const use = (one: Policy<{ body: { email: string } }>) => one;
    const used = use(
      auth({ username: (req) => (expectTypeOf(req).toEqualTypeOf<{ body: { email: string } }>(), req) }),
    );
    expect(used.name).toBe('auth');
  });
});

interface Attempt {
  readonly name: unknown;
  readonly device?: unknown;
}

describe('auth with trustedDevice', () => {
  /** Verified already, as by a signed cookie: what `device` says, unless it fails. */
  const policy = auth<Attempt>({ username: (req) => req.name, trustedDevice: ({ device }) => answer(device) });
  const answer = (device: unknown): string | undefined => {
    if (typeof device === 'function') return (device as () => string)();
    return device as string | undefined;
  };
  const owner = (device: unknown, ip = '198.51.100.1') => contextOf<Attempt>({ ip, raw: { name: 'ada', device } });

  function createBench(by = policy) {
    const clock = createClock();
    const warnings: Warning[] = [];
    const store = memoryStore({ now: clock });
    const limiter = createLimiter({ store, onWarning: (warning) => void warnings.push(warning) });
    const enter = async (ctx: RequestContext<Attempt>) => (await limiter.check(ctx, by)) as Decision;
    const hammer = async (attempts: number, device?: unknown): Promise<number> => {
      let passed = 0;
      for (let i = 0; i < attempts; i++) {
        const raw = { name: i % 2 ? 'ADA ' : 'ada', ...(device !== undefined && { device }) };
        if ((await enter(contextOf({ ip: `203.0.113.${i % 100}`, raw }))).allowed) passed++;
      }
      return passed;
    };
    return { clock, warnings, limiter, enter, hammer };
  }

  it('is without it what it always was', () => {
    const plain = auth({ username: () => 'ada' });
    const names = ['ip-username-1m', 'ip-1m', 'username-1m', 'username-1d'];
    expect(plain.limits.map(({ name }) => name)).toEqual([...names, 'ip-username-1m~site', 'ip-1m~site']);
    expect(plain.limits.every(({ when }) => when === undefined)).toBe(true);
    expect(policy.limits.map(({ name }) => name)).toEqual([
      ...names,
      'device-username-1m',
      'device-username-1d',
      'ip-username-1m~site',
      'ip-1m~site',
    ]);
    expect(policy.limits.map(({ when }) => typeof when)).toEqual(policy.limits.map(() => 'function'));
  });

  it('lets the owner in while 1000 strangers from 100 addresses try the name', async () => {
    const { clock, enter, hammer, warnings } = createBench();
    let passed = 0;
    for (let minute = 0; minute < 10; minute++) {
      passed += await hammer(1000);
      expect((await enter(owner('phone'))).allowed).toBe(true);
      expect((await enter(owner(undefined))).allowed).toBe(false);
      clock.advance(60_000);
    }
    expect(passed).toBe(100);
    expect((await enter(owner(undefined, '192.0.2.9'))).allowed).toBe(false);
    clock.advance(3_600_000);
    expect((await enter(owner('phone'))).allowed).toBe(true);
    expect(warnings).toEqual([]);
  });

  it('takes nothing from strangers, and strangers take nothing from it', async () => {
    const { enter, hammer, limiter } = createBench();
    for (let i = 0; i < 5; i++) expect((await enter(owner('phone'))).allowed).toBe(true);
    expect(await hammer(100)).toBe(10);
    const stranger = (await limiter.peek(owner(undefined), policy)) as Decision;
    expect(stranger.outcomes.map(({ name, remaining }) => [name, remaining])).toEqual([
      ['auth-ip-username-1m', 5],
      ['auth-ip-1m', 20],
      ['auth-username-1m', 0],
      ['auth-username-1d', 90],
    ]);
  });

  it('limits a known device on its own: 5 a minute and 100 a day, on its name', async () => {
    const { clock, enter } = createBench();
    const passes: boolean[] = [];
    for (let i = 0; i < 7; i++) passes.push((await enter(owner('phone', `198.51.100.${i}`))).allowed);
    expect(passes).toEqual([true, true, true, true, true, false, false]);
    // Another device of the owner is not this one, and the same one on another name neither.
    expect((await enter(owner('laptop'))).allowed).toBe(true);
    expect((await enter(contextOf({ raw: { name: 'bob', device: 'phone' } }))).allowed).toBe(true);
    let passed = 5;
    for (let minute = 0; minute < 200; minute++) {
      clock.advance(60_000);
      if ((await enter(owner('phone'))).allowed) passed++;
    }
    expect(passed).toBe(100);
    const { binding, retryAfterMs } = await enter(owner('phone'));
    expect(binding?.name).toBe('auth-device-username-1d');
    // The five of the first minute leave together.
    expect(retryAfterMs).toBe(86_400_000 - 200 * 60_000);
  });

  it.each<[string, unknown, string?]>([
    ['a forged or expired cookie', undefined],
    ['null', null],
    ['an empty text', ''],
    ['a cookie that is merely there', true, 'TypeError'],
    ['false', false, 'TypeError'],
    ['a number', 7, 'TypeError'],
    ['an object', { id: 'phone' }, 'TypeError'],
    ['a list', ['phone'], 'TypeError'],
    [
      'a hook that throws',
      () => {
        throw new RangeError('no');
      },
      'RangeError',
    ],
    ['a hook that rejects', () => Promise.reject(new RangeError('no')), 'RangeError'],
    ['a hook that answers nothing, later', () => Promise.resolve(undefined)],
    ['a hook that answers an object, later', () => Promise.resolve({}), 'TypeError'],
  ])('%s is a stranger', async (_, device, failure) => {
    const { enter, hammer, warnings } = createBench();
    expect(await hammer(100)).toBe(10);
    const { allowed, outcomes } = await enter(owner(device));
    expect(allowed).toBe(false);
    expect(outcomes.map(({ name }) => name)).toEqual([
      'auth-ip-username-1m',
      'auth-ip-1m',
      'auth-username-1m',
      'auth-username-1d',
    ]);
    const told = failure === undefined ? [] : [`trustedDevice failed with ${failure}.`];
    expect(warnings.map(({ code, message }) => [code, message])).toEqual(told.map((one) => ['resolver-failed', one]));
  });

  it('a device that comes later is known, too', async () => {
    const { enter, hammer } = createBench();
    await hammer(100);
    expect((await enter(owner(() => Promise.resolve('phone')))).allowed).toBe(true);
  });

  it('strangers of one site are bounded, whatever cookies they send', async () => {
    const { enter } = createBench();
    let passed = 0;
    for (let i = 0; i < 300; i++) {
      const raw = { name: `u${i}`, device: i % 2 ? undefined : true };
      if ((await enter(contextOf({ ip: `2001:db8:9:${i}::1`, raw }))).allowed) passed++;
    }
    expect(passed).toBe(200);
  });

  it.each([undefined, '', {}, true])(
    'nobody owns the name %j: a device does not shake off the address',
    async (name) => {
      const { enter, warnings } = createBench();
      let passed = 0;
      for (let i = 0; i < 300; i++) {
        const raw = { name, device: `d${i}` };
        if ((await enter(contextOf({ ip: `2001:db8:9:${i}::1`, raw }))).allowed) passed++;
      }
      expect(passed).toBe(200);
      expect(warnings.map(({ code }) => code)).toEqual(['partition-unresolved']);
    },
  );

  it('asks about a name and its device once per request', async () => {
    const username = vi.fn<(req: Attempt) => unknown>((req) => req.name);
    const trustedDevice = vi.fn<(req: Attempt) => string | undefined>((req) => answer(req.device));
    const { enter } = createBench(auth<Attempt>({ username, trustedDevice }));
    for (const device of ['phone', undefined, true]) {
      await enter(owner(device));
      expect([username.mock.calls.length, trustedDevice.mock.calls.length]).toEqual([1, 1]);
      vi.clearAllMocks();
    }
  });

  it('answers at once when the hook does', () => {
    expect(createBench().limiter.check(owner('phone'), policy)).not.toBeInstanceOf(Promise);
  });

  it('stores no id as it is, and both limits of a device in one place', async () => {
    const store = memoryStore({ now: createClock() });
    const take = vi.spyOn(store, 'take');
    await createLimiter({ store }).check(owner('phone-4711'), policy);
    const places = take.mock.calls[0]?.[0]?.[0]?.map(({ partition, tag }) => `${partition} ${tag}`) ?? [];
    expect(places).toHaveLength(2);
    expect(new Set(places).size).toBe(1);
    expect(places[0]).toMatch(/^~[0-9a-f]{32} ~[0-9a-f]{32}$/);
  });

  it('only a success resets, and only the attempts of a stranger from this address on this name', async () => {
    const lenient = auth<Attempt>({
      username: (req) => req.name,
      trustedDevice: ({ device }) => answer(device),
      success: ({ status }) => status === 200,
    });
    const { enter, limiter } = createBench(lenient);
    const remaining: number[][] = [];
    for (const device of ['phone', undefined]) {
      for (const status of [401, 200]) {
        let end: (response: ResponseFacts) => void = () => {};
        await enter({ ...owner(device), onFinish: (listener: typeof end) => (end = listener) });
        end({ status, aborted: false } as ResponseFacts);
      }
      remaining.push(((await limiter.peek(owner(device), lenient)) as Decision).outcomes.map((one) => one.remaining));
    }
    expect(remaining).toEqual([
      [3, 98],
      [5, 18, 8, 98],
    ]);
  });
});

function contextOf<R = unknown>(facts: { ip?: string; user?: string; raw?: R }): RequestContext<R> {
  const { ip = '203.0.113.7', user, raw = {} as R } = facts;
  return { method: 'POST', path: '/', route: undefined, header: () => undefined, ip, user, raw, onFinish: () => {} };
}
