import { Controller, Get, type INestApplication, Module, Param, Post, Req, Res, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { describeRoutes, overHttp } from '@tollgate/core/testing';
import type { Server } from 'node:http';
import { expectTypeOf, it } from 'vitest';
import { auth, type HttpRequest, RateLimitModule, read, routes } from './index.ts';

interface Reply {
  header(name: string, value: string): Reply;
  send(): void;
}

/** The platforms differ in how they spell a wildcard, and so do the versions of Express. */
function createController(wildcard: string | readonly string[]): Type {
  @Controller()
  class AppController {
    @Get('login')
    look(@Res() reply: Reply): void {
      reply.header('x-handler', 'login').send();
    }

    @Post('login')
    login(@Res() reply: Reply): void {
      reply.header('x-handler', 'login').send();
    }

    @Get('health')
    health(@Res() reply: Reply): void {
      reply.header('x-handler', 'health').send();
    }

    @Get(':page')
    page(@Res() reply: Reply): void {
      reply.header('x-handler', 'page').send();
    }

    @Get('users/:id')
    user(@Param('id') id: string, @Res() reply: Reply): void {
      reply.header('x-handler', `user ${encodeURIComponent(id)}`).send();
    }

    @Get([wildcard].flat())
    files(@Req() { params }: { params: Record<string, string | string[]> }, @Res() reply: Reply): void {
      const rest = [params['rest'] ?? params['*'] ?? params['0'] ?? ''].flat().join('/');
      reply.header('x-handler', `static ${encodeURIComponent(rest)}`).send();
    }
  }
  return AppController;
}

for (const [platform, wildcard, createAdapter] of [
  ['express', ['static/*rest', 'static/*'], () => new ExpressAdapter()],
  ['fastify', 'static/*', () => new FastifyAdapter()],
  [
    'fastify, lenient',
    'static/*',
    () => new FastifyAdapter({ ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, caseSensitive: false }),
  ],
] as const) {
  for (const prefix of ['', '/api']) {
    describeRoutes({
      name: `nestjs on ${platform}${prefix && ` below ${prefix}`}`,
      prefix,
      async create({ limiter, table }) {
        @Module({
          imports: [RateLimitModule.forRoot({ limiter, policy: table })],
          controllers: [createController(wildcard)],
        })
        class AppModule {}
        const options = { logger: false, abortOnError: false } as const;
        const app: INestApplication = await NestFactory.create(AppModule, createAdapter() as ExpressAdapter, options);
        app.setGlobalPrefix(prefix);
        await app.listen(0, '127.0.0.1');
        return overHttp(app.getHttpServer() as Server);
      },
    });
  }
}

it("a table is of Nest's requests", () => {
  RateLimitModule.forRoot({
    policy: routes({
      'POST /login': auth({ username: (req) => (expectTypeOf(req).toEqualTypeOf<HttpRequest>(), req.body) }),
      '/users/:id': [read(), read({ name: 'users', skip: (req) => req.url === '/' })],
      '/health': false,
    }),
  });
});
