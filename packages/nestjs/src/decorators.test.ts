import {
  Catch,
  Controller,
  type ExceptionFilter,
  type ArgumentsHost,
  Get,
  type INestApplication,
  Module,
  Post,
  type Type,
  UseFilters,
} from '@nestjs/common';
import { NestFactory, Reflector } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ExpressAdapter } from '@nestjs/platform-express';
import { overHttp, type RunningApp } from '@tollgate/core/testing';
import type { Request as ExpressRequest } from 'express';
import type { FastifyRequest } from 'fastify';
import type { Server } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import {
  createLimiter,
  definePolicy,
  RateLimit,
  RateLimitException,
  RateLimitGuard,
  RateLimitModule,
  type RateLimitModuleOptions,
  read,
  SkipRateLimit,
} from './index.ts';

const running: RunningApp[] = [];
afterEach(async () => {
  for (const app of running.splice(0)) await app.close();
});

async function start(
  options: RateLimitModuleOptions,
  controllers: Type[],
  platform = new ExpressAdapter(),
): Promise<RunningApp> {
  @Module({ imports: [RateLimitModule.forRoot({ limiter: createLimiter(), ...options })], controllers })
  class AppModule {}
  const app: INestApplication = await NestFactory.create(AppModule, platform, { logger: false, abortOnError: false });
  await app.listen(0, '127.0.0.1');
  const served = await overHttp(app.getHttpServer() as Server);
  running.push(served);
  return served;
}

const limited = (name: string, limit = 1) => definePolicy({ name, limits: [{ limit, window: '1m', per: 'ip' }] });

async function statuses(app: RunningApp, path: string, times: number, method = 'GET'): Promise<number[]> {
  const all: number[] = [];
  for (let i = 0; i < times; i++) all.push((await app.fetch(new Request(`http://app.test${path}`, { method }))).status);
  return all;
}

describe('RateLimitModule', () => {
  it("a method's policy replaces its class's, and both replace the module's", async () => {
    @RateLimit(limited('class', 2))
    @Controller()
    class Mixed {
      @Get('class')
      ofClass(): string {
        return 'ok';
      }

      @RateLimit(limited('method', 3))
      @Get('method')
      ofMethod(): string {
        return 'ok';
      }

      @SkipRateLimit()
      @Get('skipped')
      skipped(): string {
        return 'ok';
      }
    }
    const app = await start({ policy: limited('module', 100) }, [Mixed]);
    expect(await statuses(app, '/method', 4)).toEqual([200, 200, 200, 429]);
    expect(await statuses(app, '/class', 3)).toEqual([200, 200, 429]);
    expect(await statuses(app, '/skipped', 5)).toEqual([200, 200, 200, 200, 200]);
  });

  it('keeps controllers of equal class and method names apart', async () => {
    const make = (path: string, name: string): Type => {
      @Controller(path)
      class Same {
        @RateLimit(limited(name))
        @Get()
        list(): string {
          return 'ok';
        }
      }
      return Same;
    };
    const app = await start({}, [make('a', 'a'), make('b', 'b')]);
    expect([await statuses(app, '/a', 2), await statuses(app, '/b', 2)]).toEqual([
      [200, 429],
      [200, 429],
    ]);
  });

  it.each([
    [
      'a method',
      () => {
        @Controller()
        class Conflicting {
          @RateLimit(read({ limit: 5 }))
          @Get()
          list(): string {
            return 'ok';
          }
        }
        return Conflicting;
      },
    ],
    [
      'a class',
      () => {
        @RateLimit(read({ limit: 5 }))
        @Controller()
        class Conflicting {}
        return Conflicting;
      },
    ],
  ] as const)('does not start when the policy of %s has the name of another one', async (_, make) => {
    await expect(start({ policy: read() }, [make()])).rejects.toThrow('Two policies are named "read"');
  });

  it('refuses unknown options and empty policies', () => {
    expect(() => RateLimitModule.forRoot({ polcy: read() } as object)).toThrow(
      'RateLimitModule.forRoot has no option "polcy"; did you mean policy?',
    );
    expect(() => RateLimitModule.forRoot({ policy: [] })).toThrow('policy must be at least one policy');
  });

  it.each([
    ['express', () => new ExpressAdapter()],
    ['fastify', () => new FastifyAdapter() as unknown as ExpressAdapter],
  ])('a denial is an exception that filters can catch, on %s', async (_, platform) => {
    @Catch(RateLimitException)
    class Teapot implements ExceptionFilter {
      catch(exception: RateLimitException, host: ArgumentsHost): void {
        const res = host.switchToHttp().getResponse<{ status(code: number): { send(body: unknown): void } }>();
        res.status(418).send({ was: exception.getStatus() });
      }
    }

    @UseFilters(Teapot)
    @Controller()
    class Filtered {
      @Get('tea')
      tea(): string {
        return 'ok';
      }
    }
    const app = await start({ policy: limited('tea') }, [Filtered], platform());
    await statuses(app, '/tea', 1);
    const denied = await app.fetch(new Request('http://app.test/tea'));
    expect([denied.status, await denied.json()]).toEqual([418, { was: 429 }]);
    expect(denied.headers.get('retry-after')).not.toBeNull();
  });

  it("takes policies written for the platform's own request", async () => {
    @Controller()
    class Typed {
      @RateLimit(
        definePolicy<ExpressRequest>({
          name: 'express',
          limits: [{ limit: 1, window: '1m', per: 'ip' }],
          skip: (req) => req.query['skip'] === 'yes',
        }),
      )
      @Post('express')
      express(): string {
        return 'ok';
      }

      @RateLimit(definePolicy<FastifyRequest>({ name: 'fastify', limits: [{ limit: 1, window: '1m', per: 'ip' }] }))
      @Get('fastify')
      fastify(): string {
        return 'ok';
      }

      @RateLimit(
        definePolicy({ name: 'both', limits: [{ limit: 1, window: '1m', per: 'ip' }], skip: (req) => req.url === '/' }),
      )
      @Get('both')
      both(): string {
        return 'ok';
      }
    }
    const app = await start({}, [Typed]);
    expect(await statuses(app, '/express?skip=yes', 3, 'POST')).toEqual([201, 201, 201]);
    expect(await statuses(app, '/express', 2, 'POST')).toEqual([201, 429]);
  });
});

describe('RateLimitGuard', () => {
  it('says what to do in a context without a client address', async () => {
    class Gateway {
      onMessage(): void {}
    }
    const guard = new RateLimitGuard({ limiter: createLimiter(), policy: limited('ws') }, new Reflector());
    const context = new ExecutionContextHost([{}], Gateway, Gateway.prototype.onMessage);
    context.setType('ws');
    await expect(guard.canActivate(context)).rejects.toThrow(
      'Gateway.onMessage is called by "ws", which has no client address. Mark it with @SkipRateLimit().',
    );
    SkipRateLimit()(Gateway);
    expect(await guard.canActivate(context)).toBe(true);
  });
});
