import { expect } from 'vitest';
import type { LoginTest } from './describe-login.ts';
import type { Attempt } from './login-client.ts';

/** A way to guess: how many attempts are made, and how many of them reach the handler, at once and with time between. */
interface Attack {
  readonly what: string;
  readonly from: (i: number) => Pick<Attempt, 'ip' | 'name'>;
  readonly atOnce: { readonly attempts: number; readonly reach: number };
  readonly slowly: { readonly attempts: number; readonly everyMs: number; readonly reach: number };
}

const TEN_MINUTES = 600_000;
const attacks: readonly Attack[] = [
  {
    what: '1 address on 1 name',
    from: () => ({ ip: '203.0.113.7', name: 'ada@example.com' }),
    atOnce: { attempts: 30, reach: 5 },
    slowly: { attempts: 120, everyMs: TEN_MINUTES, reach: 100 },
  },
  {
    what: '1 address on 100 names',
    from: (i) => ({ ip: '203.0.113.7', name: `u${i}` }),
    atOnce: { attempts: 100, reach: 20 },
    // 20 in the first minute, 20 in the second.
    slowly: { attempts: 100, everyMs: 1000, reach: 40 },
  },
  {
    what: '100 addresses on 1 name',
    from: (i) => ({ ip: `203.0.113.${i % 100}`, name: 'ada@example.com' }),
    atOnce: { attempts: 100, reach: 10 },
    slowly: { attempts: 120, everyMs: TEN_MINUTES, reach: 100 },
  },
  {
    // Each pair once. Names are what is short: 10 of each in a minute, for the first five minutes.
    what: '100 addresses on 100 names',
    from: (i) => ({ ip: `203.0.113.${(i + Math.floor(i / 100)) % 100}`, name: `u${i % 100}` }),
    atOnce: { attempts: 10_000, reach: 1000 },
    slowly: { attempts: 10_000, everyMs: 30, reach: 5000 },
  },
  {
    // The backstop: ten times what one address may.
    what: 'the /64s of a /48, each on a name',
    from: (i) => ({ ip: `2001:db8:9:${i.toString(16)}::1`, name: `u${i}` }),
    atOnce: { attempts: 600, reach: 200 },
    slowly: { attempts: 600, everyMs: 200, reach: 400 },
  },
];

const atOnceOf = ({ what, atOnce: { attempts, reach } }: Attack): string =>
  `${what}, at once: ${reach} of ${attempts} attempts reach the handler`;
const slowlyOf = ({ what, slowly: { attempts, everyMs, reach } }: Attack): string =>
  `${what}, one each ${everyMs} ms: ${reach} of ${attempts} attempts reach the handler`;

/** The cases of 10 000 requests: where a framework is tested in several versions, once is enough. */
export const LARGE_CASES: readonly string[] = attacks
  .filter(({ atOnce }) => atOnce.attempts >= 10_000)
  .flatMap((attack) => [atOnceOf(attack), slowlyOf(attack)]);

/** How many attempts reach the handler: what docs/policies/auth.md promises. */
export function bruteForceCases(test: LoginTest): void {
  for (const attack of attacks) {
    const { from, atOnce, slowly } = attack;
    test(atOnceOf(attack), async ({ start }) => {
      const client = await start();
      await Promise.all(Array.from({ length: atOnce.attempts }, (_, i) => client.post(from(i))));
      expect(client.handled.login).toBe(atOnce.reach);
      expect(client.denials).toHaveLength(atOnce.attempts - atOnce.reach);
    });

    test(slowlyOf(attack), async ({ clock, start }) => {
      const client = await start();
      for (let i = 0; i < slowly.attempts; i++) {
        await client.post(from(i));
        clock.advance(slowly.everyMs);
      }
      expect(client.handled.login).toBe(slowly.reach);
      expect(client.denials).toHaveLength(slowly.attempts - slowly.reach);
    });
  }
}
