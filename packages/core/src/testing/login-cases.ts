import { expect, vi } from 'vitest';
import type { LoginTest } from './describe-login.ts';
import { ACCOUNT, type Attempt, type LoginClient, type LoginResponse } from './login-client.ts';

const { name: ADA, secret: SECRET } = ACCOUNT;
const HOME = '198.51.100.1';

/** What a login learns, forgets and reveals. */
export function loginCases(test: LoginTest): void {
  test('the sixth attempt of an address at a name in a minute is denied by both together', async ({ clock, start }) => {
    const client = await start();
    expect(await statuses(client, 6, () => ({ ip: HOME, name: ADA }))).toEqual([401, 401, 401, 401, 401, 429]);
    expect(client.denials).toEqual(['auth-ip-username-1m']);
    clock.advance(60_000);
    expect(await statuses(client, 1, () => ({ ip: HOME, name: ADA, secret: SECRET }))).toEqual([200]);
  });

  test('an address that tries many names is denied by its own limit', async ({ start }) => {
    const client = await start();
    const answers = await statuses(client, 22, (i) => ({ ip: HOME, name: `u${i}` }));
    expect(answers).toEqual([...Array.from({ length: 20 }, () => 401), 429, 429]);
    expect(client.denials).toEqual(['auth-ip-1m', 'auth-ip-1m']);
  });

  test('a name that many addresses try is denied by its own limit, for a minute and for a day', async ({
    clock,
    start,
  }) => {
    const client = await start();
    for (let minute = 0; minute < 10; minute++) {
      await statuses(client, 11, (i) => ({ ip: `203.0.113.${i}`, name: ADA }));
      clock.advance(60_000);
    }
    expect(client.handled.login).toBe(100);
    expect(client.denials).toEqual([...Array.from({ length: 9 }, () => 'auth-username-1m'), 'auth-username-1d']);
    expect(await statuses(client, 1, () => ({ ip: HOME, name: ADA, secret: SECRET }))).toEqual([429]);
    expect(client.denials.at(-1)).toBe('auth-username-1d');
  });

  test('spellings of a name are one name', async ({ start }) => {
    const client = await start();
    const spellings = [ADA, 'ADA@example.com', ` ${ADA} `, `${ADA}\0`, 'ａｄａ@example.com', [ADA]];
    expect(await statuses(client, 6, (i) => ({ ip: HOME, name: spellings[i] }))).toEqual([
      401, 401, 401, 401, 401, 429,
    ]);
  });

  test('attempts without a name are bounded by their address', async ({ start }) => {
    const client = await start();
    const names = [undefined, null, '', {}, { $ne: null }, true];
    await statuses(client, 30, (i) => ({ ip: HOME, name: names[i % names.length] }));
    expect(client.handled.login).toBe(20);
  });

  test('a login after four failures gives back the attempts of this address at this name, and no others', async ({
    start,
  }) => {
    const client = await start();
    await statuses(client, 4, () => ({ ip: HOME, name: ADA }));
    expect(await client.remaining(HOME, ADA)).toEqual([1, 16, 6, 96]);
    expect(await statuses(client, 1, () => ({ ip: HOME, name: ADA, secret: SECRET }))).toEqual([200]);
    // The response is out before the counter is forgotten.
    await vi.waitFor(async () => expect(await client.remaining(HOME, ADA)).toEqual([5, 15, 5, 95]));
    expect(await statuses(client, 6, () => ({ ip: HOME, name: ADA }))).toEqual([401, 401, 401, 401, 401, 429]);
    expect(await client.remaining(HOME, ADA)).toEqual([0, 10, 0, 90]);
  });

  test('a login with a password gives back no attempt at the second factor', async ({ start }) => {
    const client = await start();
    const code: Attempt = { step: 'code', ip: HOME, name: ADA };
    expect(await statuses(client, 6, () => code)).toEqual([401, 401, 401, 401, 401, 429]);
    expect(await statuses(client, 1, () => ({ ip: HOME, name: ADA, secret: SECRET }))).toEqual([200]);
    await vi.waitFor(async () => expect((await client.remaining(HOME, ADA))[0]).toBe(5));
    expect(await statuses(client, 2, () => code)).toEqual([429, 429]);
    expect(client.handled).toEqual({ login: 1, code: 5 });
  });

  test('a name that exists and one that does not get the same answers, to the letter', async ({ start }) => {
    const client = await start();
    const existing = await responses(client, 7, () => ({ ip: '198.51.100.1', name: ADA }));
    const missing = await responses(client, 7, () => ({ ip: '198.51.100.2', name: 'eve@example.com' }));
    expect(existing.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 429, 429]);
    expect(missing).toEqual(existing);
  });

  test('a denial tells when to come back, and neither the limit nor what is left', async ({ clock, start }) => {
    const client = await start();
    const pair = (await responses(client, 6, () => ({ ip: '198.51.100.1', name: 'u' }))).at(-1);
    const address = (await responses(client, 21, (i) => ({ ip: '198.51.100.2', name: `u${i}` }))).at(-1);
    const name = (await responses(client, 11, (i) => ({ ip: `203.0.113.${i}`, name: ADA }))).at(-1);
    expect(client.denials).toEqual(['auth-ip-username-1m', 'auth-ip-1m', 'auth-username-1m']);
    expect(address).toEqual(pair);
    expect(name).toEqual(pair);
    for (let i = 0; i < 90; i++) {
      clock.advance(60_000);
      await client.post({ ip: HOME, name: ADA });
    }
    const day = await client.post({ ip: HOME, name: ADA });
    expect(client.denials.at(-1)).toBe('auth-username-1d');
    expect(formOf(day)).toEqual(formOf(pair));
    const sent = JSON.stringify([pair, address, name, day]);
    expect(sent).not.toMatch(/ratelimit-|auth|username|remaining|"limit/i);
    expect(pair?.headers.map((line) => line.toLowerCase())).toContain('retry-after: 60');
  });

  test('the owner gets in from a known device while strangers try the name', async ({ devices, start }) => {
    const client = await start();
    const token = devices.issue(ADA);
    const owner: Attempt = { ip: '203.0.113.1', name: ADA, secret: SECRET };
    await Promise.all(Array.from({ length: 100 }, (_, i) => client.post({ ip: `203.0.113.${i}`, name: ADA })));
    expect(client.handled.login).toBe(10);
    expect(await statuses(client, 1, () => owner)).toEqual([429]);
    expect(await statuses(client, 6, () => ({ ...owner, token }))).toEqual([200, 200, 200, 200, 200, 429]);
    expect(client.denials.at(-1)).toBe('auth-device-username-1m');
    for (const forged of [`${token.slice(0, -1)}x`, devices.issue('eve'), 'true', '', 'x'.repeat(4000)])
      expect(await statuses(client, 1, () => ({ ...owner, token: forged }))).toEqual([429]);
    expect(client.denials.at(-1)).toBe('auth-username-1m');
  });
}

async function responses(client: LoginClient, times: number, from: (i: number) => Attempt): Promise<LoginResponse[]> {
  const all: LoginResponse[] = [];
  for (let i = 0; i < times; i++) all.push(await client.post(from(i)));
  return all;
}

async function statuses(client: LoginClient, times: number, from: (i: number) => Attempt): Promise<number[]> {
  return (await responses(client, times, from)).map(({ status }) => status);
}

/** Without what depends on how long it is until the client may come back. */
function formOf(response: LoginResponse | undefined): unknown {
  const headers = response?.headers.map((line) => line.replace(/^(retry-after|content-length|etag): .*$/i, '$1'));
  return { ...response, headers, body: response?.body.replaceAll(/\d+/g, '0') };
}
