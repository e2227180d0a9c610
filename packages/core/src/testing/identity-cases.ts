import { expect } from 'vitest';
import type { Identified } from '../identity/identity.ts';
import { username } from '../identity/username.ts';
import { monitorRedis } from './monitor.ts';
import type { IdentityBench, SentHeaders, StartOptions } from './describe-identity.ts';

type Test = (name: string, run: (bench: IdentityBench) => Promise<void>) => void;

/** Who is who: all of `same` share one counter of one request, and each of `others` has one of its own. */
interface Row {
  readonly what: string;
  readonly start?: StartOptions;
  readonly same: readonly SentHeaders[];
  readonly others?: readonly SentHeaders[];
}

const from = (...lines: string[]): SentHeaders => ({ 'x-forwarded-for': lines });
const forwarded = (value: string): SentHeaders => ({ forwarded: value });
const VICTIM = '203.0.113.7';

const rows: readonly Row[] = [
  {
    what: 'nobody is trusted: a header says nothing',
    start: { trust: undefined },
    same: [{}, from('6.6.6.1'), from('6.6.6.2'), from(`6.6.6.3, ${VICTIM}`), from('garbage'), forwarded('for=6.6.6.4')],
  },
  {
    what: 'a peer outside of the trusted network is the client',
    start: { trust: '10.0.0.0/8' },
    same: [{}, from('6.6.6.1'), from('6.6.6.2, 10.0.0.1')],
  },
  {
    what: 'entries to the left of the nearest hop are its own invention',
    same: [from(`6.6.6.1, ${VICTIM}`), from(`6.6.6.2, ${VICTIM}`), from(VICTIM), from(`x,,"[, 127.0.0.1, ${VICTIM}`)],
    others: [from('203.0.113.8'), from(`${VICTIM}, 203.0.113.9`)],
  },
  {
    what: 'several trusted hops are walked through',
    start: { trust: '127.0.0.1, 10.0.0.0/8' },
    same: [from(`6.6.6.1, ${VICTIM}, 10.0.0.1`), from(VICTIM), from(`10.6.6.6, ${VICTIM}, 10.0.0.1, 10.0.0.2`)],
    others: [from(`6.6.6.1, 203.0.113.8, 10.0.0.1`)],
  },
  {
    what: 'ports and brackets come off',
    same: [from('[2001:db8::1]:443'), from('2001:db8::1'), from('[2001:db8::1]'), from('"[2001:db8::1]:4711"')],
    others: [from('[2001:db9::1]:443')],
  },
  {
    what: 'the source port of an IPv4 client is no client',
    same: [from(`${VICTIM}:1024`), from(`${VICTIM}:65535`), from(VICTIM)],
    others: [from('203.0.113.8:1024')],
  },
  {
    what: 'a mapped address is the IPv4 address, in all spellings',
    same: [
      from(VICTIM),
      from(`::ffff:${VICTIM}`),
      from(`::FFFF:${VICTIM}`),
      from('::ffff:cb00:7107'),
      from('::FFFF:CB00:7107'),
      from(`0:0:0:0:0:ffff:${VICTIM}`),
      from('0000:0000:0000:0000:0000:FFFF:CB00:7107'),
      from(`[::ffff:${VICTIM}]:443`),
    ],
    others: [from('::ffff:203.0.113.8'), from('::ffff:203.0.113.9')],
  },
  {
    what: 'IPv6 clients are their /64',
    same: [from('2001:db8:0:1::1'), from('2001:db8:0:1:ffff::9'), from('2001:db8:0:1:ffff:ffff:ffff:ffff')],
    others: [from('2001:db8:0:2::1'), from('2001:db8:0:3::1')],
  },
  {
    what: 'zeros and case are no client',
    same: [from('2001:DB8::0:1'), from('2001:db8::1'), from('2001:0db8:0::0001')],
  },
  {
    // As docs/identity.md has it: an interface is the server's own, and no part of who a client is.
    what: 'interfaces are no client',
    same: [from('fe80::1%eth0'), from('fe80::1%eth1'), from('fe80::1')],
  },
  {
    what: 'what is no address is nobody, all of it together',
    same: ['010.0.0.1', '0x7f.1', '1.2.3', '2130706433', 'unknown', '_hidden', 'garbage', '1.2.3.4, garbage'].map(
      (one) => from(one),
    ),
    others: [from('10.0.0.1'), from('8.0.0.1'), from('127.0.0.1'), from('1.2.0.3')],
  },
  {
    what: 'two lines of a header are one list',
    same: [from('6.6.6.1', VICTIM), from(`6.6.6.2, ${VICTIM}`), from('6.6.6.3', '6.6.6.4', VICTIM)],
    others: [from(VICTIM, '203.0.113.8')],
  },
  {
    what: 'headers that are not the configured one say nothing',
    same: Array.from({ length: 5 }, (_, i) => ({
      ...from(VICTIM),
      'forwarded': `for=6.6.6.${i}`,
      'x-real-ip': `6.6.6.${i}`,
      'x-client-ip': `6.6.6.${i}`,
      'cf-connecting-ip': `6.6.6.${i}`,
      'true-client-ip': `6.6.6.${i}`,
      'fly-client-ip': `6.6.6.${i}`,
    })),
  },
  {
    what: 'Forwarded is read from the right, quotes and all',
    start: { header: 'forwarded', trust: '127.0.0.1, 10.0.0.0/8' },
    same: [
      forwarded('for="[2001:db8::1]:4711";proto=https, for=10.0.0.1'),
      forwarded('for="[2001:db8::1]"'),
      forwarded('for=6.6.6.1, For="[2001:DB8::2]";by=_x'),
      forwarded('host="a;for=6.6.6.2, for=6.6.6.3";for="2001:db8::1"'),
      { ...forwarded('for="[2001:db8::1]"'), ...from('6.6.6.4') },
    ],
    others: [forwarded('for="[2001:db8::1]", for=203.0.113.8')],
  },
  {
    what: 'Forwarded that cannot be read is nobody',
    start: { header: 'forwarded' },
    same: [
      'for="6.6.6.1',
      'for=6.6.6.2:80',
      'for=6.6.6.3;for=6.6.6.4',
      'for=unknown',
      'for=_x',
      'proto=https',
      '6.6.6.5',
    ].map(forwarded),
    others: [forwarded('for=6.6.6.1')],
  },
  {
    what: 'who forges the address of another one does not use up its budget',
    same: Array.from({ length: 5 }, () => from(`${VICTIM}, 6.6.6.6`)),
    others: [from(VICTIM)],
  },
];

const TRUSTS_EVERYBODY = ['0.0.0.0/0', '::/0', '::ffff:10.0.0.0/8', '10.0.0.0/33', 'abc'];

/** Stands for what an application answers, by a word in a header. */
const ANSWERS: Readonly<Record<string, () => unknown>> = {
  'nothing': () => undefined,
  'null': () => null,
  'empty text': () => '',
  'an object': () => ({}),
  'a list': () => [],
  'NaN': () => Number.NaN,
  'an object as id': () => ({ id: {} }),
  'a promise of nothing': () => Promise.resolve(undefined),
  'a rejection': () => Promise.reject(new Error('no')),
  'an error': () => {
    throw new Error('no');
  },
};

/** The cases of describeIdentity. */
export function identityCases(test: Test): void {
  for (const { what, start, same, others = [] } of rows) {
    test(what, async (bench) => {
      await bench.start(start);
      const statuses = [];
      for (const headers of same) statuses.push(await bench.get(headers));
      expect(statuses).toEqual(same.map((_, i) => (i === 0 ? 200 : 429)));
      for (const headers of others) expect([headers, await bench.get(headers)]).toEqual([headers, 200]);
    });
  }

  for (const trust of TRUSTS_EVERYBODY) {
    test(`trust in ${trust} is refused, or trusts nobody more`, async (bench) => {
      try {
        await bench.start({ trust });
      } catch (error) {
        expect(String(error)).toMatch(/trust|range|invalid|address/i);
        return;
      }
      expect([await bench.get(from('6.6.6.1')), await bench.get(from('6.6.6.2'))]).toEqual([200, 429]);
    });
  }

  test('fresh agents, addresses and networks of one site share a backstop', async (bench) => {
    await bench.start({ limit: { per: 'identity' }, backstop: 3 });
    const statuses = [];
    for (let i = 0; i < 6; i++) {
      statuses.push(await bench.get({ ...from(`2001:db8:1:${i}::1`), 'user-agent': `agent ${i}` }));
    }
    expect(statuses).toEqual([200, 200, 200, 429, 429, 429]);
    expect(await bench.get(from('2001:db8:2::1'))).toBe(200);
  });

  test('fresh API keys share a backstop, and those without an address the limit itself', async (bench) => {
    await bench.start({ limit: { per: 'identity' }, backstop: 3 });
    const rotate = async (address: string): Promise<number[]> => {
      const statuses = [];
      for (let i = 0; i < 3; i++) {
        statuses.push(await bench.get({ ...from(address), 'x-api-key': `key-${address}-${i}` }));
        statuses.push(await bench.get({ ...from(address), authorization: `Bearer token-${address}-${i}` }));
      }
      return statuses;
    };
    expect(await rotate(VICTIM)).toEqual([200, 200, 200, 429, 429, 429]);
    expect(await rotate('garbage')).toEqual([200, 429, 429, 429, 429, 429]);
  });

  test('ids that are names of JavaScript are ids', async (bench) => {
    await bench.start({ limit: { per: 'user' }, identify: (_, ctx) => ctx.header('x-user') });
    for (const user of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', 'alice']) {
      expect([user, await bench.get({ 'x-user': user }), await bench.get({ 'x-user': user })]).toEqual([
        user,
        200,
        429,
      ]);
    }
    expect(({} as Record<string, unknown>)['count']).toBeUndefined();
  });

  test('an id of 1 MB is an id, and a short key', async (bench) => {
    const identify = (_: unknown, ctx: { header(name: string): string | undefined }): string =>
      'x'.repeat(1_000_000) + ctx.header('x-user');
    await bench.start({ limit: { per: 'user' }, identify });
    const statuses = [];
    for (const user of ['a', 'a', 'b', 'b']) statuses.push(await bench.get({ 'x-user': user }));
    expect(statuses).toEqual([200, 429, 200, 429]);
    for (const key of (await bench.redis?.client.keys('*')) ?? []) expect(key.length).toBeLessThan(250);
  });

  test('what is no id falls to the next link, and never to a counter for all', async (bench) => {
    await bench.start({
      limit: { per: 'identity' },
      identify: (_, ctx) => ANSWERS[ctx.header('x-answer') ?? '']?.() as Identified,
    });
    for (const [i, answer] of Object.keys(ANSWERS).entries()) {
      const as = (client: string): Promise<number> =>
        bench.get({ ...from(`203.0.${i}.${client}`), 'x-answer': answer });
      expect([answer, await as('1'), await as('1'), await as('2')]).toEqual([answer, 200, 429, 200]);
    }
  });

  test('a number is an id', async (bench) => {
    await bench.start({ limit: { per: 'identity' }, identify: (_, ctx) => Number(ctx.header('x-user')) });
    const as = (client: string, user: string): Promise<number> => bench.get({ ...from(client), 'x-user': user });
    expect([await as('6.6.6.1', '0'), await as('6.6.6.2', '0'), await as('6.6.6.2', '7')]).toEqual([200, 429, 200]);
  });

  test('a username is one, however it is spelt', async (bench) => {
    // As in a JSON body, which can hold any character.
    const per = username((_, ctx) => JSON.parse(ctx.header('x-name') ?? 'null') as unknown);
    await bench.start({ limit: { per: ['ip', per] } });
    const as = (name: string): Promise<number> =>
      bench.get({
        'x-name': JSON.stringify(name).replace(
          /[^\x20-\x7E]/g,
          (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
        ),
      });
    const spellings = ['Bob@Ex.com', 'bob@ex.com', 'bob@ex.com ', 'bob@ex.com\0', 'ｂob@ex.com', 'bo\u200Bb@ex.com'];
    const statuses = [];
    for (const name of spellings) statuses.push(await as(name));
    expect(statuses).toEqual([200, 429, 429, 429, 429, 429]);
    expect(await as('alice@ex.com')).toBe(200);
  });

  test('API keys and user ids are not in the store', async (bench) => {
    await bench.start({
      limit: { per: 'identity', limit: 100 },
      pepper: 'a pepper of a few characters',
      identify: (_, ctx) => ctx.header('x-user'),
    });
    const monitor = bench.redis && (await monitorRedis(bench.redis));
    const secrets = ['sk_live_1234567890', 'bob@example.com', 'agent-of-the-secret-service'];
    const [key = '', user = '', agent = ''] = secrets;
    for (const headers of [{ 'x-api-key': key }, { authorization: `Bearer ${key}` }, { 'x-user': user }, {}]) {
      expect(await bench.get({ 'user-agent': agent, ...headers })).toBe(200);
    }
    const commands = (await monitor?.seen()) ?? [];
    monitor?.stop();
    if (monitor !== undefined)
      expect(commands.filter((one) => /^eval(sha)? /i.test(one)).length).toBeGreaterThanOrEqual(4);
    const everything = [...commands, ...((await bench.redis?.client.keys('*')) ?? [])].join('\n');
    for (const secret of secrets) expect(everything).not.toContain(secret);
  });
}
