import { Body, Controller, HttpCode, HttpException, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { describeLogin, type LoginAppSpec, overHttp, type RunningApp } from '@tollgate/core/testing';
import { type HttpRequest, RateLimit, RateLimitModule } from './index.ts';

/** The guard decides when the platform has read the body. */
type Parsed = HttpRequest & { readonly body?: { readonly name?: unknown } };

function createModule({ limiter, policies, answer }: LoginAppSpec): new () => object {
  const { login, code } = policies<Parsed>((req) => req.body?.name);

  @Controller()
  class LoginController {
    @RateLimit(login)
    @HttpCode(200)
    @Post('login')
    login(@Body() body: unknown): object {
      return this.respond('login', body);
    }

    @RateLimit(code)
    @HttpCode(200)
    @Post('code')
    code(@Body() body: unknown): object {
      return this.respond('code', body);
    }

    private respond(step: 'login' | 'code', sent: unknown): object {
      const { status, body } = answer(step, sent);
      if (status !== 200) throw new HttpException(body, status);
      return body;
    }
  }

  @Module({ imports: [RateLimitModule.forRoot({ limiter })], controllers: [LoginController] })
  class AppModule {}
  return AppModule;
}

const PLATFORMS = {
  async express(spec: LoginAppSpec): Promise<RunningApp> {
    const options = { logger: false, abortOnError: false } as const;
    const app = await NestFactory.create<NestExpressApplication>(createModule(spec), new ExpressAdapter(), options);
    app.set('trust proxy', 'loopback');
    await app.listen(0, '127.0.0.1');
    return overHttp(app.getHttpServer());
  },
  async fastify(spec: LoginAppSpec): Promise<RunningApp> {
    const options = { logger: false, abortOnError: false } as const;
    const adapter = new FastifyAdapter({ trustProxy: 'loopback' });
    const app = await NestFactory.create<NestFastifyApplication>(createModule(spec), adapter, options);
    await app.listen(0, '127.0.0.1');
    return overHttp(app.getHttpServer());
  },
} as const;

for (const [platform, create] of Object.entries(PLATFORMS)) {
  describeLogin({
    name: `nestjs on ${platform}`,
    create,
    ...(platform === 'fastify' && { skipLarge: 'Nest on Express is asked as often' }),
  });
}
