import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  HttpException,
  Inject,
  Injectable,
  Post,
  Req,
  Res,
} from '@nestjs/common';
import { ExternalContextCreator } from '@nestjs/core';
import { describe, expect, it } from 'vitest';
import {
  auth,
  createLimiter,
  definePolicy,
  type HttpRequest,
  type HttpResponse,
  RateLimit,
  RateLimitModule,
  SkipRateLimit,
  type Warning,
} from './index.ts';
import { PLATFORMS, type TestApp, useApps } from './testing/app.ts';

const perIp = (name: string, limit: number) => definePolicy({ name, limits: [{ limit, window: '1m', per: 'ip' }] });

@Controller()
class HttpController {
  @Get('http')
  http(): string {
    return 'ok';
  }
}

/** Names the user that a header names, as a guard for GraphQL does. */
class SignIn implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (context.getType<string>() !== 'graphql') return true;
    const { req } = context.getArgByIndex<{ req?: Partial<HttpRequest> }>(2);
    const name = req?.headers?.['x-name'];
    if (req !== undefined && name !== undefined) Object.assign(req, { user: { id: name } });
    return true;
  }
}

describe.each(PLATFORMS)('a GraphQL field, on %s', (platform) => {
  const start = useApps();
  type ContextOf = (req: HttpRequest, res: HttpResponse) => unknown;
  const usual: ContextOf = (req, res) => ({ req, res });

  @Injectable()
  class Resolver {
    products(): string {
      return 'products';
    }

    prices(): string {
      return 'prices';
    }

    @RateLimit(
      auth<HttpRequest>({
        username: ({ body }) => (body as { name?: unknown }).name,
        success: ({ status }) => status < 300,
      }),
    )
    login(): never {
      throw new HttpException('Wrong password', 401);
    }

    @SkipRateLimit()
    health(): string {
      return 'ok';
    }
  }

  /** Calls the fields that a request asks for as Nest's GraphQL module does: by an external context each, all at once. */
  @SkipRateLimit()
  @Controller()
  class GraphqlController {
    readonly #creator: ExternalContextCreator;
    readonly #resolver: Resolver;
    readonly #contextOf: ContextOf;

    constructor(
      @Inject(ExternalContextCreator) creator: ExternalContextCreator,
      @Inject(Resolver) resolver: Resolver,
      @Inject('contextOf') contextOf: ContextOf,
    ) {
      this.#creator = creator;
      this.#resolver = resolver;
      this.#contextOf = contextOf;
    }

    @Post('graphql')
    async graphql(@Req() req: HttpRequest, @Res({ passthrough: true }) res: HttpResponse): Promise<unknown[]> {
      const { fields } = req.body as { fields: ('products' | 'login')[] };
      const value = this.#contextOf(req, res);
      const calls = fields.map(async (fieldName) => {
        const enhancers = { guards: true, interceptors: true, filters: false };
        const field = this.#creator.create(
          this.#resolver,
          this.#resolver[fieldName],
          fieldName,
          undefined,
          undefined,
          undefined,
          undefined,
          enhancers,
          'graphql',
        );
        return (await field({}, {}, value, { fieldName, parentType: { name: 'Query' } })) as unknown;
      });
      const answers = await Promise.allSettled(calls);
      return answers.map((one) =>
        one.status === 'fulfilled'
          ? one.value
          : one.reason instanceof HttpException
            ? one.reason.getStatus()
            : (one.reason as Error).message,
      );
    }
  }

  const warnings: Warning[] = [];
  function startWith(policy: ReturnType<typeof perIp>, contextOf = usual): Promise<TestApp> {
    warnings.splice(0);
    const limiter = createLimiter({ onWarning: (warning) => void warnings.push(warning) });
    return start(
      platform,
      {
        imports: [RateLimitModule.forRoot({ limiter, policy })],
        controllers: [GraphqlController, HttpController],
        providers: [Resolver, { provide: 'contextOf', useValue: contextOf }],
      },
      (nest) => nest.useGlobalGuards(new SignIn()),
    );
  }
  const ask = (app: TestApp, fields: string[], body: object = {}, headers: object = {}): Promise<Response> =>
    app.fetch('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ fields, ...body }),
    });

  it.each<[string, ContextOf]>([
    ['{ req, res }', usual],
    ['{ req }, of Express', (req, res) => (platform === 'express' ? { req } : usual(req, res))],
    ['{ req, reply }', (req, reply) => ({ req, reply })],
    ['{ request, reply }', (request, reply) => ({ request, reply })],
    ['{ reply }, of Fastify', (req, res) => (platform === 'fastify' ? { reply: res } : usual(req, res))],
  ])('is limited like HTTP, with the context %s', async (_, contextOf) => {
    const app = await startWith(perIp('all', 2), contextOf);
    const first = await ask(app, ['products']);
    expect(await first.json()).toEqual(['products']);
    expect(first.headers.get('ratelimit-remaining')).toBe('1');
    expect(await app.statuses('/http', 1)).toEqual([200]);
    const denied = await ask(app, ['products', 'health']);
    expect(await denied.json()).toEqual([429, 'ok']);
    expect(Number(denied.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(denied.headers.get('content-type')).toMatch(/^application\/json/);
  });

  it('counts as often as a request asks for it, under whatever alias', async () => {
    const app = await startWith(perIp('all', 3));
    const answer = await ask(app, ['products', 'prices', 'products', 'products']);
    expect(await answer.json()).toEqual(['products', 'prices', 'products', 429]);
    // One item for the policy, and not one for each field.
    expect(answer.headers.get('ratelimit-policy')).toBe('"all";q=3;w=60');
    expect(answer.headers.get('ratelimit-remaining')).toBe('0');
  });

  it('tells what is left after the last of them', async () => {
    const app = await startWith(perIp('all', 5));
    const answer = await ask(app, ['products', 'prices', 'products']);
    expect(answer.headers.get('ratelimit')).toMatch(/^"all";r=2;t=\d+$/);
  });

  it('of a login takes five guesses, though each request that brings some is a success of HTTP', async () => {
    const app = await startWith(perIp('all', 100));
    const guesses = Array.from({ length: 4 }, () => 'login');
    expect(await (await ask(app, guesses, { name: 'ada' })).json()).toEqual([401, 401, 401, 401]);
    expect(await (await ask(app, guesses, { name: 'ada' })).json()).toEqual([401, 429, 429, 429]);
    expect(await (await ask(app, ['login'], { name: 'bob' })).json()).toEqual([401]);
    expect(warnings.map(({ code }) => code)).toEqual(['response-unknown']);
  });

  it('counts as the user that a guard behind the limiter names', async () => {
    const perUser = definePolicy({ name: 'user', limits: [{ limit: 1, window: '1m', per: 'user' }] });
    const app = await startWith(perUser);
    const as = async (name: string) => (await ask(app, ['products'], {}, { 'x-name': name })).json();
    expect([await as('ada'), await as('ada'), await as('bob')]).toEqual([['products'], [429], ['products']]);
  });

  it('is a route of its own', async () => {
    const perRoute = definePolicy({ name: 'route', limits: [{ limit: 1, window: '1m', per: ['ip', 'route'] }] });
    const app = await startWith(perRoute);
    expect(await (await ask(app, ['products', 'prices', 'products'])).json()).toEqual(['products', 'prices', 429]);
  });

  it.each<[string, ContextOf]>([
    ['nothing', () => undefined],
    ['what is no request', () => ({ req: {}, res: {} })],
    ['a request that nobody answers, as of a subscription', ({ headers }) => ({ req: { headers } })],
  ])('says what to do where its context has %s', async (_, contextOf) => {
    const app = await startWith(perIp('all', 1), (req, res) => contextOf(req, res) ?? { products: [] });
    expect(await (await ask(app, ['products', 'health'])).json()).toEqual([
      'RateLimitGuard limits HTTP requests; Resolver.products is called by "graphql", and its GraphQL context has no HTTP ' +
        'request and response. Make it `({ req, res }) => ({ req, res })`, or mark it with @SkipRateLimit().',
      'ok',
    ]);
  });
});
