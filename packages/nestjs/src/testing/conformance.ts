import {
  Body,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Header,
  HttpCode,
  Param,
  Post,
  Redirect,
  Req,
  Res,
  StreamableFile,
  UnauthorizedException,
  UseGuards,
} from '@nestjs/common';
import type { AppSpec } from '@tollgate/core/testing';
import type { ServerResponse } from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { type HttpRequest, RateLimit, SkipRateLimit } from '../index.ts';

/** On Fastify, the response of Node is inside of the platform's own. */
type PlatformResponse = ServerResponse & { readonly raw?: ServerResponse; status(code: number): unknown };

const left = (request: HttpRequest): object => ({ remaining: request.rateLimit?.quota?.remaining });

class Authenticated implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (context.switchToHttp().getRequest<HttpRequest>().user === undefined) throw new UnauthorizedException();
    return true;
  }
}

export function limitedController({ policy, search, users, chosen, login, onRead }: AppSpec): new () => object {
  @Controller()
  class LimitedController {
    @Get('read')
    read(@Req() request: HttpRequest): object {
      onRead();
      return left(request);
    }

    @SkipRateLimit()
    @Get('health')
    health(): object {
      return { ok: true };
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

    @RateLimit(users)
    @Get('users/:id')
    user(@Param('id') id: string): object {
      return { id };
    }

    @RateLimit(chosen)
    @Get('chosen')
    chosen(): object {
      return { ok: true };
    }

    @RateLimit(login<HttpRequest>(({ body }) => body?.['name']))
    @Post('login')
    @HttpCode(200)
    login(@Body() body: { secret?: string }): object {
      if (body.secret !== 'right') throw new UnauthorizedException();
      return {};
    }

    @UseGuards(Authenticated)
    @Get('private')
    account(@Req() { user }: HttpRequest): object {
      return { user };
    }
  }
  return LimitedController;
}

export function nestedController({ nested, own }: AppSpec): new () => object {
  @RateLimit(nested)
  @Controller('nested')
  class NestedController {
    @Get('read')
    read(@Req() request: HttpRequest): object {
      return left(request);
    }

    @RateLimit(own)
    @Get('own')
    own(@Req() request: HttpRequest): object {
      return left(request);
    }
  }
  return NestedController;
}

export function answersController({ slow }: AppSpec): new () => object {
  @Controller()
  class AnswersController {
    @Post('echo')
    @HttpCode(200)
    echo(@Body() body: object): object {
      return body;
    }

    @Get('teapot')
    @HttpCode(418)
    @Header('cache-control', 'max-age=60')
    teapot(): object {
      return { tea: true };
    }

    @Get('redirect')
    @Redirect('/read')
    redirect(): void {}

    @Get('tagged')
    @Header('etag', '"v1"')
    tagged(
      @Req() { headers }: HttpRequest,
      @Res({ passthrough: true }) response: PlatformResponse,
    ): object | undefined {
      if (headers['if-none-match'] !== '"v1"') return { ok: true };
      response.status(304);
      return undefined;
    }

    @Get('throw')
    throw(): never {
      throw new Error('boom');
    }

    @Get('reject')
    reject(): Promise<never> {
      return Promise.reject(new Error('boom'));
    }

    @Get('slow')
    async slow(): Promise<object> {
      await slow();
      return { ok: true };
    }

    @Get('stream')
    stream(): StreamableFile {
      return new StreamableFile(Readable.from(['one', 'two', 'three'].map((part) => Buffer.from(part))));
    }

    @Get('early')
    early(): StreamableFile {
      const parts = new PassThrough();
      parts.write('one');
      void slow().then(() => parts.end('two'));
      return new StreamableFile(parts);
    }

    @Get('broken')
    broken(): StreamableFile {
      const parts = new PassThrough();
      parts.write('one');
      void setTimeout(5).then(() => parts.destroy(new Error('broken')));
      return new StreamableFile(parts);
    }

    @Get('late')
    late(@Res() response: PlatformResponse): never {
      // On Fastify, Nest does not see that the answer has begun unless it is over.
      if (response.raw) response.raw.end('one');
      else response.write('one');
      throw new Error('boom');
    }
  }
  return AnswersController;
}
