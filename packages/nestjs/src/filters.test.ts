import {
  type ArgumentsHost,
  type CanActivate,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  HttpException,
  type ModuleMetadata,
  UseFilters,
  UseGuards,
} from '@nestjs/common';
import { APP_FILTER, BaseExceptionFilter } from '@nestjs/core';
import { describe, expect, it } from 'vitest';
import {
  createLimiter,
  definePolicy,
  type HttpRequest,
  RateLimitException,
  RateLimitModule,
  type RateLimitModuleOptions,
} from './index.ts';
import { PLATFORMS, useApps } from './testing/app.ts';

interface Answer {
  status(code: number): this;
  send(body: unknown): void;
}

class Teapot implements ExceptionFilter {
  catch(exception: HttpException, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Answer>();
    if (exception.getStatus() !== 429) throw exception;
    response.status(418).send({ was: exception.getStatus(), name: exception.constructor.name });
  }
}

@Catch(RateLimitException)
class OnRateLimit extends Teapot {}

@Catch(HttpException)
class OnHttp extends Teapot {}

@Catch()
class OnAll extends Teapot {}

@Catch()
class Html implements ExceptionFilter {
  catch(_: unknown, host: ArgumentsHost): void {
    host.switchToHttp().getResponse<Answer>().status(429).send('<h1>Slow down</h1>');
  }
}

@Catch(RateLimitException)
class Base extends BaseExceptionFilter {}

/** Names the user behind the limiter, so that its denial comes from the interceptor. */
class SignIn implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    Object.assign(context.switchToHttp().getRequest<HttpRequest>(), { user: { id: 'ada' } });
    return true;
  }
}

@Controller()
class Plain {
  @Get()
  index(): string {
    return 'ok';
  }
}

@UseFilters(OnRateLimit)
@Controller()
class Filtered extends Plain {}

@UseFilters(OnRateLimit)
@UseGuards(SignIn)
@Controller()
class FilteredUsers extends Plain {}

const perIp = definePolicy({ name: 'ip', limits: [{ limit: 1, window: '1m', per: 'ip' }] });
const perUser = definePolicy({ name: 'user', limits: [{ limit: 1, window: '1m', per: 'user' }] });

describe.each(PLATFORMS)('a denial, on %s', (platform) => {
  const start = useApps();
  const startWith = (module: ModuleMetadata, policy = perIp, filters: ExceptionFilter[] = []) => {
    const options: RateLimitModuleOptions = { limiter: createLimiter(), policy };
    const imports = [RateLimitModule.forRoot(options)];
    return start(platform, { controllers: [Plain], ...module, imports }, (app) => app.useGlobalFilters(...filters));
  };

  it.each<[string, ModuleMetadata, typeof perIp, ExceptionFilter[]]>([
    ['its class on a controller', { controllers: [Filtered] }, perIp, []],
    ['its class on a controller, of a user', { controllers: [FilteredUsers] }, perUser, []],
    ['its class in APP_FILTER', { providers: [{ provide: APP_FILTER, useClass: OnRateLimit }] }, perIp, []],
    ['HttpException in APP_FILTER', { providers: [{ provide: APP_FILTER, useClass: OnHttp }] }, perIp, []],
    ['HttpException of the application', {}, perIp, [new OnHttp()]],
    ['everything', {}, perIp, [new OnAll()]],
  ])('can be caught by %s, and keeps its headers', async (_, module, policy, filters) => {
    const app = await startWith(module, policy, filters);
    await app.fetch('/');
    const denied = await app.fetch('/');
    expect([denied.status, await denied.json()]).toEqual([418, { was: 429, name: 'RateLimitException' }]);
    expect(Number(denied.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(denied.headers.get('ratelimit')).toMatch(/r=0/);
    expect(denied.headers.get('cache-control')).toBe('no-store');
  });

  it('of a path without a route can be caught as well', async () => {
    const app = await startWith({ providers: [{ provide: APP_FILTER, useClass: OnRateLimit }] });
    await app.fetch('/nothing');
    const denied = await app.fetch('/nothing');
    expect([denied.status, await denied.json()]).toEqual([418, { was: 429, name: 'RateLimitException' }]);
    expect(denied.headers.get('retry-after')).not.toBeNull();
  });

  it('leaves the type of what a filter sends to the filter', async () => {
    const app = await startWith({}, perIp, [new Html()]);
    await app.fetch('/');
    for (const accept of ['text/html', 'application/problem+json']) {
      const denied = await app.fetch('/', { headers: { accept } });
      expect(await denied.text()).toBe('<h1>Slow down</h1>');
      // Each platform's own type of a text.
      expect(denied.headers.get('content-type')).toMatch(platform === 'express' ? /^text\/html/ : /^text\/plain/);
    }
  });

  it('is problem details for who accepts them, also by way of the filter of Nest', async () => {
    const app = await start(
      platform,
      { imports: [RateLimitModule.forRoot({ limiter: createLimiter(), policy: perIp })], controllers: [Plain] },
      (nest) => nest.useGlobalFilters(new Base(nest.getHttpAdapter())),
    );
    await app.fetch('/');
    const denied = await app.fetch('/', { headers: { accept: 'application/problem+json' } });
    expect([denied.status, denied.headers.get('content-type')?.split(';')[0]]).toEqual([
      429,
      'application/problem+json',
    ]);
    expect(await denied.json()).toMatchObject({ status: 429, title: 'Quota Exceeded' });
  });
});
