import { Controller, Get, Module, Post, type Type } from '@nestjs/common';
import type { Request as ExpressRequest } from 'express';
import type { FastifyRequest } from 'fastify';
import { describe, expect, it } from 'vitest';
import { createLimiter, definePolicy, RateLimit, RateLimitModule, read, SkipRateLimit } from './index.ts';
import { PLATFORMS, useApps } from './testing/app.ts';

const perIp = (name: string, limit = 1) => definePolicy({ name, limits: [{ limit, window: '1m', per: 'ip' }] });
const limits = (policy = perIp('module', 100)) => RateLimitModule.forRoot({ limiter: createLimiter(), policy });

describe.each(PLATFORMS)('decorators, on %s', (platform) => {
  const start = useApps();

  it("a method's policy replaces its class's, and both replace the module's", async () => {
    @RateLimit(perIp('class', 2))
    @Controller()
    class Mixed {
      @Get('class')
      ofClass(): string {
        return 'ok';
      }

      @RateLimit(perIp('method', 3))
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
    const app = await start(platform, { imports: [limits()], controllers: [Mixed] });
    expect(await app.statuses('/method', 4)).toEqual([200, 200, 200, 429]);
    expect(await app.statuses('/class', 3)).toEqual([200, 200, 429]);
    expect(await app.statuses('/skipped', 5)).toEqual([200, 200, 200, 200, 200]);
  });

  it('a method of a class that is skipped can be limited', async () => {
    @SkipRateLimit()
    @Controller()
    class Internal {
      @Get('free')
      free(): string {
        return 'ok';
      }

      @RateLimit(perIp('costly'))
      @Get('costly')
      costly(): string {
        return 'ok';
      }
    }
    const app = await start(platform, { imports: [limits(perIp('module'))], controllers: [Internal] });
    expect(await app.statuses('/free', 3)).toEqual([200, 200, 200]);
    expect(await app.statuses('/costly', 2)).toEqual([200, 429]);
  });

  it('come down to the classes that extend the controller, until they say otherwise', async () => {
    @RateLimit(perIp('base'))
    abstract class Base {
      @Get('plain')
      plain(): string {
        return 'ok';
      }

      @RateLimit(perIp('own', 2))
      @Get('own')
      own(): string {
        return 'ok';
      }

      @RateLimit(perIp('replaced', 2))
      @Get('replaced')
      replaced(): string {
        return 'ok';
      }
    }
    @Controller('heir')
    class Heir extends Base {
      // A method of its own: it brings its own decorators, those of the route included.
      @Get('replaced')
      override replaced(): string {
        return 'mine';
      }
    }
    @SkipRateLimit()
    @Controller('free')
    class Free extends Base {}
    const app = await start(platform, { imports: [limits()], controllers: [Heir, Free] });
    expect(await app.statuses('/heir/own', 3)).toEqual([200, 200, 429]);
    expect(await app.statuses('/heir/plain', 2)).toEqual([200, 429]);
    expect(await app.statuses('/heir/replaced', 1)).toEqual([429]);
    expect(await app.statuses('/free/plain', 2)).toEqual([200, 200]);
    expect(await app.statuses('/free/own', 1)).toEqual([429]);
  });

  it('of controllers with the same names, in modules of their own, are kept apart', async () => {
    const make = (path: string): Type => {
      @Controller(path)
      class Same {
        @RateLimit(perIp(path))
        @Get()
        list(): string {
          return 'ok';
        }

        @RateLimit(definePolicy({ name: 'route', limits: [{ limit: 1, window: '1m', per: ['ip', 'route'] }] }))
        @Get('route')
        route(): string {
          return 'ok';
        }
      }
      @Module({ controllers: [Same] })
      class SameModule {}
      return SameModule;
    };
    const app = await start(platform, { imports: [limits(), make('a'), make('b')] });
    for (const path of ['/a', '/b', '/a/route', '/b/route']) expect(await app.statuses(path, 2)).toEqual([200, 429]);
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
        return { controllers: [Conflicting] };
      },
    ],
    [
      'a class',
      () => {
        @RateLimit(read({ limit: 5 }))
        @Controller()
        class Conflicting {}
        return { controllers: [Conflicting] };
      },
    ],
    [
      'a provider, as resolvers and gateways are',
      () => {
        class Resolver {
          @RateLimit(read({ limit: 5 }))
          products(): string {
            return 'ok';
          }
        }
        return { providers: [Resolver] };
      },
    ],
  ] as const)('stop the start when the policy of %s has the name of another one', async (_, make) => {
    const starting = start(platform, { imports: [limits(read())], ...make() });
    await expect(starting).rejects.toThrow('Two policies are named "read"');
  });

  it("take policies written for the platform's own request", async () => {
    type Searched = ExpressRequest<unknown, unknown, unknown, { skip?: string }> &
      FastifyRequest<{ Querystring: { skip?: string } }>;
    const skip = ({ query }: Pick<Searched, 'query'>): boolean => query.skip === 'yes';
    @Controller()
    class Typed {
      @RateLimit(
        platform === 'express'
          ? definePolicy<ExpressRequest>({ name: 'own', limits: [{ limit: 1, window: '1m', per: 'ip' }], skip })
          : definePolicy<FastifyRequest<{ Querystring: { skip?: string } }>>({
              name: 'own',
              limits: [{ limit: 1, window: '1m', per: 'ip' }],
              skip,
            }),
      )
      @Post('own')
      own(): string {
        return 'ok';
      }
    }
    const app = await start(platform, { imports: [limits()], controllers: [Typed] });
    expect(await app.statuses('/own?skip=yes', 3, { method: 'POST' })).toEqual([201, 201, 201]);
    expect(await app.statuses('/own', 2, { method: 'POST' })).toEqual([201, 429]);
  });
});
