import { type CanActivate, Controller, Get, Injectable, Module, type ModuleMetadata, Scope } from '@nestjs/common';
import { APP_GUARD, ApplicationConfig } from '@nestjs/core';
import { describe, expect, it } from 'vitest';
import { createLimiter, RateLimitGuard, RateLimitModule, read, type Warning } from './index.ts';
import { useApps } from './testing/app.ts';

@Injectable()
class AuthGuard implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}

@Injectable({ scope: Scope.REQUEST })
class ScopedGuard extends AuthGuard {}

@Controller()
class AppController {
  @Get()
  index(): string {
    return 'ok';
  }
}

const auth = { provide: APP_GUARD, useClass: AuthGuard };
const scoped = { provide: APP_GUARD, useClass: ScopedGuard };

@Module({ providers: [auth] })
class AuthModule {}

@Module({ imports: [AuthModule] })
class FeatureModule {}

describe('the order of global guards', () => {
  const start = useApps();
  const ours = RateLimitGuard.name;
  const theirs = AuthGuard.name;

  /** The order in which Nest runs them, and what is said about it. */
  async function orderOf(module: ModuleMetadata, late: CanActivate[] = []): Promise<[string[], string[]]> {
    const said: Warning[] = [];
    const limiter = createLimiter({ onWarning: (warning) => void said.push(warning) });
    const imports = (module.imports ?? []).map((one) =>
      one === RateLimitModule ? RateLimitModule.forRoot({ limiter, policy: read() }) : one,
    );
    const app = await start('express', { ...module, imports, controllers: [AppController] }, (nest) =>
      nest.useGlobalGuards(...late),
    );
    expect(await app.statuses('/', 1)).toEqual([200]);
    const guards = app.nest.get(ApplicationConfig).getGlobalGuards();
    return [guards.map((guard) => guard.constructor.name), said.map(({ code }) => code)];
  }

  it.each<[string, ModuleMetadata, string[]]>([
    ['the order of the imports', { imports: [RateLimitModule, AuthModule] }, [ours, theirs]],
    ['the order of the imports, also when it is wrong', { imports: [AuthModule, RateLimitModule] }, [theirs, ours]],
    ['what a module imports right after it', { imports: [FeatureModule, RateLimitModule] }, [theirs, ours]],
    ['what the root module provides before all', { imports: [RateLimitModule], providers: [auth] }, [theirs, ours]],
    [
      'what the root module provides before all, and ours first of it',
      { imports: [RateLimitModule], providers: [{ provide: APP_GUARD, useExisting: RateLimitGuard }, auth] },
      [ours, theirs, ours],
    ],
    ['request-scoped guards last', { imports: [RateLimitModule], providers: [scoped] }, [ours]],
  ])('is %s', async (_, module, order) => {
    expect(await orderOf(module)).toEqual([order, order[0] === ours ? [] : ['guard-order']]);
  });

  it('is that of app.useGlobalGuards() after all modules', async () => {
    expect(await orderOf({ imports: [RateLimitModule] }, [new AuthGuard()])).toEqual([[ours, theirs], []]);
  });

  it('is told with the guards and the remedy', async () => {
    const said: Warning[] = [];
    const limiter = createLimiter({ onWarning: (warning) => void said.push(warning) });
    await start('express', {
      imports: [RateLimitModule.forRoot({ limiter, policy: read() })],
      providers: [auth, auth],
    });
    expect(said).toEqual([
      {
        code: 'guard-order',
        message:
          'AuthGuard runs before RateLimitGuard, so requests that it rejects are not counted. Import RateLimitModule before the ' +
          'module that provides it; what the root module itself provides runs first, so move it into a module of its own.',
      },
    ]);
  });
});
