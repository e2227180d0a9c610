import { Controller, Get, HttpCode, type INestApplication, Module, Post, Req, StreamableFile } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { type AppSpec, describeAdapter, overHttp } from '@tollgate/core/testing';
import type { Server } from 'node:http';
import { Readable } from 'node:stream';
import { type HttpRequest, RateLimit, RateLimitModule, SkipRateLimit } from './index.ts';

function createModule({ limiter, policy, search, onRead }: AppSpec): new () => object {
  @Controller()
  class AppController {
    @Get('read')
    read(@Req() request: HttpRequest): object {
      onRead();
      return { remaining: request.rateLimit?.quota?.remaining };
    }

    @RateLimit(search)
    @Post('search')
    @HttpCode(200)
    search(): object {
      return { ok: true };
    }

    @RateLimit([policy, policy])
    @Get('twice')
    twice(): object {
      return { ok: true };
    }

    @SkipRateLimit()
    @Get('health')
    health(): object {
      return { ok: true };
    }

    @Get('throw')
    throw(): never {
      throw new Error('boom');
    }

    @Get('stream')
    stream(): StreamableFile {
      return new StreamableFile(Readable.from(['one', 'two', 'three'].map((part) => Buffer.from(part))));
    }
  }

  @Module({ imports: [RateLimitModule.forRoot({ limiter, policy })], controllers: [AppController] })
  class AppModule {}
  return AppModule;
}

const PLATFORMS = {
  express: () => new ExpressAdapter(),
  fastify: () => new FastifyAdapter(),
} as const;

for (const [platform, createPlatform] of Object.entries(PLATFORMS)) {
  describeAdapter({
    name: `nestjs on ${platform}`,
    async create(spec) {
      const app: INestApplication = await NestFactory.create(createModule(spec), createPlatform() as ExpressAdapter, {
        logger: false,
      });
      if (platform === 'express') (app as NestExpressApplication).set('etag', false);
      await app.listen(0, '127.0.0.1');
      return overHttp(app.getHttpServer() as Server);
    },
  });
}
