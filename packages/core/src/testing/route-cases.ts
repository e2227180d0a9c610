import { expect } from 'vitest';
import type { Answer, RoutesBench } from './describe-routes.ts';
import { ADMIN, ME, spellingsOf, USERS } from './route-spellings.ts';

type Test = (name: string, run: (bench: RoutesBench) => Promise<void>) => void;

/** The cases of describeRoutes. */
export function routeCases(test: Test): void {
  test('whoever reaches a handler is counted by its policy', async ({ start, send }) => {
    await start(100_000);
    const answers: Answer[] = [];
    for (const path of spellingsOf('login')) {
      for (const method of ['GET', 'POST', 'HEAD']) answers.push(await send(path, method));
    }
    for (const path of [...USERS, ...ME]) answers.push(await send(path));
    const wrong = answers.filter(({ handler, policies }) => {
      const name = handler?.split(' ')[0];
      return (
        (name === 'login' && !policies.includes('login')) || (name === 'user' && !/users|me/.test(policies.join()))
      );
    });
    expect(wrong).toEqual([]);
    expect(answers.filter(({ handler }) => handler === 'login').length).toBeGreaterThanOrEqual(3);
    expect(answers.filter(({ handler }) => handler === 'user 7').length).toBeGreaterThanOrEqual(1);
    expect(await send('/login')).toMatchObject({ handler: 'login', policies: ['login'] });
    expect(await send('/users/7')).toMatchObject({ handler: 'user 7', policies: ['users'] });
  });

  test('all spellings of a path share its limit', async ({ start, send }) => {
    await start(3);
    const answers: Answer[] = [];
    for (const path of spellingsOf('login')) {
      for (const method of ['GET', 'POST']) answers.push(await send(path, method));
    }
    expect(answers.filter(({ handler }) => handler === 'login').length).toBeLessThanOrEqual(3);
    expect((await send('/login')).status).toBe(429);
  });

  test('an entry for one path counts under a route with a parameter', async ({ start, send }) => {
    await start(3);
    const answers: Answer[] = [];
    for (let i = 0; i < 3; i++) for (const path of ME) answers.push(await send(path));
    expect(answers.filter(({ handler }) => /^user me$/i.test(handler ?? '')).length).toBeLessThanOrEqual(3);
    expect((await send('/users/me')).status).toBe(429);
    expect((await send('/users/7')).status).toBe(200);
  });

  test('only what is not to be counted is not counted', async ({ start, send }) => {
    await start(100_000);
    const answers: Answer[] = [];
    for (const path of [...spellingsOf('health'), ...spellingsOf('login'), ...USERS, ...ME, ...ADMIN])
      answers.push(await send(path));
    const free = answers.filter(({ handler, policies }) => handler !== undefined && policies.length === 0);
    expect(free.filter(({ handler = '' }) => handler !== 'health' && !isFree(handler))).toEqual([]);
    const admin = answers.filter(({ handler = '' }) => handler.startsWith('static') && !isFree(handler));
    expect(admin.filter(({ policies }) => !policies.includes('admin'))).toEqual([]);
    expect(await send('/health')).toMatchObject({ handler: 'health', policies: [] });
    expect(await send('/static/x.css')).toMatchObject({ handler: 'static x.css', policies: [] });
    expect(await send('/static/admin/x')).toMatchObject({ handler: 'static admin%2Fx', policies: ['admin'] });
  });
}

/** Whether it is a file that anybody may have: decoded and resolved, it is not below `admin`. */
function isFree(handler: string): boolean {
  const [name, rest = ''] = handler.split(' ');
  const { pathname } = new URL(`http://x/${decodeURIComponent(rest)}`);
  return name === 'static' && !/^\/+admin(\/|$)/i.test(decodeURIComponent(pathname));
}
