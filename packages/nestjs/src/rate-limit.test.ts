import { type ArgumentsHost, Catch, HttpException, type INestApplication, Module } from '@nestjs/common';
import { BaseExceptionFilter, NestFactory } from '@nestjs/core';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { type AppSpec, describeAdapter, overHttp, type RunningApp } from '@tollgate/core/testing';
import type { Server } from 'node:http';
import { type HttpRequest, RateLimitModule } from './index.ts';
import { answersController, limitedController, nestedController } from './testing/conformance.ts';

function createModule(spec: AppSpec): new () => object {
  @Module({
    imports: [RateLimitModule.forRoot({ limiter: spec.limiter, policy: spec.policy })],
    controllers: [limitedController(spec), nestedController(spec), answersController(spec)],
  })
  class AppModule {}
  return AppModule;
}

@Catch()
class Filter extends BaseExceptionFilter {
  onError: (error: unknown) => void = () => {};

  override catch(error: unknown, host: ArgumentsHost): void {
    if (!(error instanceof HttpException)) this.onError(error);
    super.catch(error, host);
  }
}

async function start(app: INestApplication, { onError }: AppSpec): Promise<RunningApp> {
  app.useGlobalFilters(Object.assign(new Filter(app.getHttpAdapter()), { onError }));
  await app.listen(0, '127.0.0.1');
  return overHttp(app.getHttpServer() as Server, () => app.close());
}

const identify = (
  request: { user?: unknown; headers: HttpRequest['headers'] },
  _response: object,
  next: () => void,
) => {
  request.user = request.headers['x-user'];
  next();
};

const BODY_FIRST = 'Nest reads and parses the body before its guards run';

const shared = {
  composition: { route: 'replaces', scope: 'replaces' },
  skip: {
    'a malformed body is refused, and counted once': BODY_FIRST,
    'a body that is too large is refused, and counted once': BODY_FIRST,
    'over the limit, a body is not waited for': BODY_FIRST,
    'a body that never comes is counted once': BODY_FIRST,
  },
} as const;
const options = { logger: false, abortOnError: false } as const;

describeAdapter({
  ...shared,
  name: 'nestjs on express',
  async create(spec) {
    const app = await NestFactory.create<NestExpressApplication>(createModule(spec), new ExpressAdapter(), options);
    app.set('etag', false).set('trust proxy', 'loopback');
    app.use(identify);
    return start(app, spec);
  },
  skipHttp2: 'Express makes its requests of http.IncomingMessage, which those of HTTP/2 are not',
});

describeAdapter({
  ...shared,
  name: 'nestjs on fastify',
  async create(spec) {
    const http2 = spec.http2 ? { http2: true as const } : {};
    const adapter = new FastifyAdapter({ trustProxy: 'loopback', bodyLimit: 100_000, ...http2 });
    adapter.getInstance().addHook('onRequest', identify);
    return start(await NestFactory.create(createModule(spec), adapter, options), spec);
  },
});
