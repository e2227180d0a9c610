import { Controller, Get, type INestApplication, Next, NotFoundException, VersioningType } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { createLimiter, definePolicy, RateLimit, RateLimitModule, SkipRateLimit } from './index.ts';
import { PLATFORMS, useApps } from './testing/app.ts';

const perIp = (name: string, limit: number) => definePolicy({ name, limits: [{ limit, window: '1m', per: 'ip' }] });

interface Setup {
  readonly prefix: string;
  readonly headers?: Record<string, string>;
  readonly configure: (app: INestApplication) => unknown;
}

const SETUPS: Record<string, Setup> = {
  'a plain application': { prefix: '', configure: () => {} },
  'a global prefix': { prefix: '/api', configure: (app) => app.setGlobalPrefix('api') },
  'versions in the path': {
    prefix: '/v1',
    configure: (app) => app.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' }),
  },
  'versions in a header': {
    prefix: '',
    headers: { v: '1' },
    configure: (app) => app.enableVersioning({ type: VersioningType.HEADER, header: 'v', defaultVersion: '1' }),
  },
};

@Controller()
class AppController {
  @Get('known')
  known(): string {
    return 'ok';
  }

  @Get('missing')
  missing(): never {
    throw new NotFoundException();
  }

  @Get('passed-on')
  passOn(@Next() next: () => void): void {
    next();
  }

  @SkipRateLimit()
  @Get('free')
  free(): string {
    return 'ok';
  }

  @RateLimit(perIp('own', 1))
  @Get('own')
  own(): string {
    return 'ok';
  }
}

describe.each(PLATFORMS)('requests that no route takes, on %s', (platform) => {
  const start = useApps();

  describe.each(Object.entries(SETUPS))('with %s', (_, { prefix, headers = {}, configure }) => {
    const startWith = (limit: number) => {
      const limiter = createLimiter();
      const imports = [RateLimitModule.forRoot({ limiter, policy: perIp('all', limit) })];
      return start(platform, { imports, controllers: [AppController] }, configure);
    };

    it('are counted once, and limited, with those that a route takes', async () => {
      const app = await startWith(4);
      const paths = [`${prefix}/nothing`, '/elsewhere/at/all', `${prefix}/known`, `${prefix}/missing`];
      const answers: Response[] = [];
      for (const path of [...paths, ...paths]) answers.push(await app.fetch(path, { headers }));
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 200, 404, 429, 429, 429, 429]);
      const left = answers.map((answer) => answer.headers.get('ratelimit-remaining'));
      expect(left).toEqual(['3', '2', '1', '0', '0', '0', '0', '0']);
      expect(await answers[4]?.json()).toMatchObject({ error: 'rate_limit_exceeded' });
      expect(Number(answers[5]?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    });

    it('say nothing about routes with policies of their own, or none', async () => {
      const app = await startWith(1);
      await app.fetch('/nothing');
      expect(await app.statuses(`${prefix}/free`, 2, { headers })).toEqual([200, 200]);
      expect(await app.statuses(`${prefix}/own`, 2, { headers })).toEqual([200, 429]);
    });
  });

  it.skipIf(platform === 'fastify')('are counted once when a route passes them on (on Fastify none can)', async () => {
    const limiter = createLimiter();
    const imports = [RateLimitModule.forRoot({ limiter, policy: perIp('all', 2) })];
    const app = await start(platform, { imports, controllers: [AppController] });
    expect(await app.statuses('/passed-on', 3)).toEqual([404, 404, 429]);
  });

  it('are those of a version that there is not', async () => {
    const { configure, headers } = SETUPS['versions in a header'] as Setup;
    const limiter = createLimiter();
    const imports = [RateLimitModule.forRoot({ limiter, policy: perIp('all', 1) })];
    const app = await start(platform, { imports, controllers: [AppController] }, configure);
    expect(await app.statuses('/known', 2)).toEqual([404, 429]);
    expect(await app.statuses('/own', 1, { headers: headers ?? {} })).toEqual([200]);
  });

  it('are counted with another method than the route’s', async () => {
    const limiter = createLimiter();
    const imports = [RateLimitModule.forRoot({ limiter, policy: perIp('all', 1) })];
    const app = await start(platform, { imports, controllers: [AppController] });
    expect(await app.statuses('/known', 2, { method: 'DELETE' })).toEqual([404, 429]);
  });
});
