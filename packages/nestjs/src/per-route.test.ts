import { Controller, Get, Module, RequestMethod, VersioningType } from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { describe, expect, it } from 'vitest';
import { createLimiter, definePolicy, RateLimitModule } from './index.ts';
import { PLATFORMS, useApps } from './testing/app.ts';

describe.each(PLATFORMS)('a limit per route, on %s', (platform) => {
  const start = useApps();
  const policy = definePolicy({ name: 'r', limits: [{ limit: 2, window: '1m', per: ['ip', 'route'] }] });
  const perRoute = () => RateLimitModule.forRoot({ limiter: createLimiter(), policy });

  @Controller('users')
  class Users {
    @Get(':id')
    one(): string {
      return 'ok';
    }

    @Get(':id/posts')
    posts(): string {
      return 'ok';
    }
  }

  it.each([
    ['', () => {}],
    ['/api', (app: { setGlobalPrefix(prefix: string): unknown }) => app.setGlobalPrefix('api')],
  ] as const)('counts each pattern for itself, under the global prefix "%s"', async (prefix, configure) => {
    const app = await start(platform, { imports: [perRoute()], controllers: [Users] }, configure);
    const statuses = async (path: string): Promise<number> => (await app.fetch(prefix + path)).status;
    expect([await statuses('/users/1'), await statuses('/users/2?x=1'), await statuses('/users/3')]).toEqual([
      200, 200, 429,
    ]);
    expect([await statuses('/users/1/posts'), await statuses('/users/2/posts')]).toEqual([200, 200]);
  });

  it('counts each version for itself where it is in the path', async () => {
    @Controller({ path: 'users', version: ['1', '2'] })
    class Versioned extends Users {}
    const app = await start(platform, { imports: [perRoute()], controllers: [Versioned] }, (nest) =>
      nest.setGlobalPrefix('api').enableVersioning({ type: VersioningType.URI }),
    );
    expect(await app.statuses('/api/v1/users/1', 3)).toEqual([200, 200, 429]);
    expect(await app.statuses('/api/v2/users/1', 3)).toEqual([200, 200, 429]);
  });

  it('counts all versions together where the path is the same', async () => {
    @Controller({ path: 'users', version: ['1', '2'] })
    class Versioned extends Users {}
    const app = await start(platform, { imports: [perRoute()], controllers: [Versioned] }, (nest) =>
      nest.enableVersioning({ type: VersioningType.HEADER, header: 'x-version' }),
    );
    const of = (version: string): RequestInit => ({ headers: { 'x-version': version } });
    expect(await app.statuses('/users/1', 2, of('1'))).toEqual([200, 200]);
    expect(await app.statuses('/users/1', 1, of('2'))).toEqual([429]);
  });

  it('counts modules that are mounted elsewhere, and prefixes with exceptions', async () => {
    @Module({ controllers: [Users] })
    class UsersModule {}
    @Module({ controllers: [Users] })
    class AdminModule {}
    const app = await start(
      platform,
      {
        imports: [
          perRoute(),
          UsersModule,
          AdminModule,
          RouterModule.register([{ path: 'admin', module: AdminModule }]),
        ],
      },
      (nest) => nest.setGlobalPrefix('api', { exclude: [{ path: 'users/:id', method: RequestMethod.GET }] }),
    );
    expect(await app.statuses('/users/1', 3)).toEqual([200, 200, 429]);
    expect(await app.statuses('/api/admin/users/1', 3)).toEqual([200, 200, 429]);
  });
});
