import { Controller, Get, Inject, Injectable, Module, Req, Res, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type MicroserviceOptions, Transport } from '@nestjs/microservices';
import { Test } from '@nestjs/testing';
import { describe, expect, it } from 'vitest';
import {
  createLimiter,
  definePolicy,
  type HttpRequest,
  type HttpResponse,
  type Limiter,
  NestContext,
  RATE_LIMITER,
  RateLimitGuard,
  RateLimitModule,
  type RateLimitModuleAsyncOptions,
  type RateLimitModuleOptions,
  type RateLimitOptionsFactory,
  read,
} from './index.ts';
import { PLATFORMS, useApps } from './testing/app.ts';

@Controller()
class AppController {
  @Get()
  index(): string {
    return 'ok';
  }
}

@Injectable()
class Settings {
  readonly perMinute = 2;
}

@Module({ providers: [Settings], exports: [Settings] })
class SettingsModule {}

@Injectable()
class Options implements RateLimitOptionsFactory {
  readonly #settings: Settings;
  constructor(@Inject(Settings) settings: Settings) {
    this.#settings = settings;
  }

  createRateLimitOptions(): RateLimitModuleOptions {
    return { limiter: createLimiter(), policy: read({ limit: this.#settings.perMinute }) };
  }
}

@Module({ imports: [SettingsModule], providers: [Options], exports: [Options] })
class OptionsModule {}

describe('forRoot', () => {
  it('refuses unknown options and empty policies at once', () => {
    expect(() => RateLimitModule.forRoot({ polcy: read() } as object)).toThrow(
      'RateLimitModule.forRoot has no option "polcy"; did you mean policy?',
    );
    expect(() => RateLimitModule.forRoot({ policy: [] })).toThrow('policy must be at least one policy');
    expect(() => RateLimitModule.forRoot({ limiter: {} } as object)).toThrow(
      'limiter must be a limiter made by createLimiter(); received an object.',
    );
  });
});

describe('forRootAsync', () => {
  const start = useApps();
  const startWith = (options: RateLimitModuleAsyncOptions) =>
    start('express', { imports: [RateLimitModule.forRootAsync(options)], controllers: [AppController] });

  it.each<[string, RateLimitModuleAsyncOptions]>([
    [
      'useFactory',
      {
        imports: [SettingsModule],
        inject: [Settings],
        useFactory: async ({ perMinute }: Settings) => {
          await new Promise((resolve) => void setTimeout(resolve, 5));
          return { limiter: createLimiter(), policy: read({ limit: perMinute }) };
        },
      },
    ],
    ['useClass', { imports: [SettingsModule], useClass: Options }],
    ['useExisting', { imports: [OptionsModule], useExisting: Options }],
  ])('takes what %s makes of other providers', async (_, options) => {
    const app = await startWith(options);
    expect(await app.statuses('/', 3)).toEqual([200, 200, 429]);
    // Also for what no route takes.
    expect(await app.statuses('/nothing', 1)).toEqual([429]);
  });

  it.each<[object, string]>([
    [{}, 'RateLimitModule.forRootAsync takes one of useFactory, useClass, useExisting; received none.'],
    [
      { useFactory: () => ({}), useClass: Options },
      'RateLimitModule.forRootAsync takes one of useFactory, useClass, useExisting; received useFactory and useClass.',
    ],
    [{ usefactory: () => ({}) }, 'RateLimitModule.forRootAsync has no option "usefactory"; did you mean useFactory?'],
    [undefined as never, 'RateLimitModule.forRootAsync must be an object; received undefined.'],
    [{ useFactory: {} }, 'RateLimitModule.forRootAsync.useFactory must be a function; received an object.'],
  ])('refuses %o', (options, message) => {
    expect(() => RateLimitModule.forRootAsync(options)).toThrow(message);
  });

  it.each<[unknown, string]>([
    [{ polcy: read() }, 'RateLimitModule.forRootAsync.useFactory has no option "polcy"; did you mean policy?'],
    [undefined, 'RateLimitModule.forRootAsync.useFactory must be an object; received undefined.'],
    [{ policy: [] }, 'policy must be at least one policy'],
  ])('rejects the start when its factory answers %o', async (made, message) => {
    await expect(startWith({ useFactory: () => made as object })).rejects.toThrow(message);
  });

  it('rejects the start when its factory does', async () => {
    await expect(startWith({ useFactory: () => Promise.reject(new Error('no Redis')) })).rejects.toThrow('no Redis');
  });

  it('names the class whose answer is wrong', async () => {
    @Injectable()
    class Wrong implements RateLimitOptionsFactory {
      createRateLimitOptions(): RateLimitModuleOptions {
        return { polcy: read() } as object;
      }
    }
    await expect(startWith({ useClass: Wrong })).rejects.toThrow(
      'Wrong.createRateLimitOptions has no option "polcy"; did you mean policy?',
    );
  });
});

describe('an application without an HTTP server', () => {
  it.each([
    [
      'standalone',
      (module: Type) => NestFactory.createApplicationContext(module, { logger: false, abortOnError: false }),
    ],
    [
      'a microservice',
      async (module: Type) => {
        const service = await NestFactory.createMicroservice<MicroserviceOptions>(module, {
          transport: Transport.TCP,
          options: { host: '127.0.0.1', port: 0 },
          logger: false,
          abortOnError: false,
        });
        return service.listen().then(() => service);
      },
    ],
  ])('has a limiter to inject: %s', async (_, create) => {
    const limiter = createLimiter();
    @Module({ imports: [RateLimitModule.forRoot({ limiter, policy: read() })] })
    class AppModule {}
    const app = await create(AppModule);
    expect(app.get(RATE_LIMITER)).toBe(limiter);
    await app.close();
  });
});

describe.each(PLATFORMS)('the limiter as a provider, on %s', (platform) => {
  const start = useApps();
  const policy = definePolicy({ name: 'support', limits: [{ limit: 1, window: '1m', per: 'ip' }] });

  @Injectable()
  class Support {
    readonly #limiter: Limiter;
    constructor(@Inject(RATE_LIMITER) limiter: Limiter) {
      this.#limiter = limiter;
    }

    async change(how: string | undefined, context: NestContext): Promise<boolean> {
      if (how === 'block') return this.#limiter.block(context, policy, '1m');
      return this.#limiter.reset(context, policy);
    }
  }

  @Controller()
  class SupportController {
    readonly #support: Support;
    constructor(@Inject(Support) support: Support) {
      this.#support = support;
    }

    @Get()
    async change(@Req() request: HttpRequest, @Res({ passthrough: true }) response: HttpResponse): Promise<string> {
      const how = request.headers['x-change']?.toString();
      return how === undefined ? 'ok' : String(await this.#support.change(how, new NestContext(request, response)));
    }
  }

  it.each([
    ['forRoot', (limiter: Limiter) => RateLimitModule.forRoot({ limiter, policy })],
    ['forRootAsync', (limiter: Limiter) => RateLimitModule.forRootAsync({ useFactory: () => ({ limiter, policy }) })],
  ])('of %s is the one that counts', async (_, limits) => {
    const limiter = createLimiter();
    const app = await start(platform, {
      imports: [limits(limiter)],
      providers: [Support],
      controllers: [SupportController],
    });
    expect(app.nest.get(RATE_LIMITER)).toBe(limiter);
    expect(await app.statuses('/', 1, { headers: { 'x-change': 'reset' } })).toEqual([200]);
    expect(await app.statuses('/', 1, { headers: { 'x-change': 'block' } })).toEqual([200]);
    expect(await app.statuses('/', 2)).toEqual([429, 429]);
  });

  it('leaves a test alone where the guard is replaced', async () => {
    const tested = await Test.createTestingModule({
      imports: [RateLimitModule.forRoot({ limiter: createLimiter(), policy })],
      controllers: [AppController],
    })
      .overrideProvider(RateLimitGuard)
      .useValue({ canActivate: () => true })
      .compile();
    const app = await start(platform, {}, undefined, (adapter) => tested.createNestApplication(adapter));
    expect(await app.statuses('/', 3)).toEqual([200, 200, 200]);
  });

  it('is there without any options', async () => {
    const app = await start(platform, { imports: [RateLimitModule.forRoot()], controllers: [AppController] });
    expect(typeof app.nest.get<Limiter>(RATE_LIMITER).check).toBe('function');
  });
});
