import { All, type CanActivate, Controller, type ExecutionContext, Injectable, Module } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { describeIdentity, overHttp, type RunningApp } from '@tollgate/core/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { createLimiter, type HttpRequest, type Limiter, type Policy, RateLimitModule, read } from './index.ts';

const ONLY_XFF = 'the platform knows X-Forwarded-For only';

@Injectable()
class SignIn implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    Object.assign(context.switchToHttp().getRequest<HttpRequest>(), { user: { id: 7 } });
    return true;
  }
}

@Controller()
class AppController {
  @All()
  index(): string {
    return 'ok';
  }
}

interface Parts {
  readonly limiter: Limiter;
  readonly policy: Policy;
  readonly trust: unknown;
  readonly auth?: 'above' | 'below';
}

/** Guards run in the order of their modules. */
function createModule({ limiter, policy, auth }: Parts): new () => object {
  @Module({ providers: [{ provide: APP_GUARD, useClass: SignIn }] })
  class AuthModule {}

  const limits = RateLimitModule.forRoot({ limiter, policy });
  const imports = { none: [limits], above: [AuthModule, limits], below: [limits, AuthModule] }[auth ?? 'none'];
  @Module({ imports, controllers: [AppController] })
  class AppModule {}
  return AppModule;
}

const PLATFORMS = {
  async express(parts: Parts): Promise<RunningApp> {
    const options = { logger: false, abortOnError: false } as const;
    const app = await NestFactory.create<NestExpressApplication>(createModule(parts), new ExpressAdapter(), options);
    app.set('trust proxy', parts.trust ?? false);
    await app.listen(0, '127.0.0.1');
    return overHttp(app.getHttpServer());
  },
  async fastify(parts: Parts): Promise<RunningApp> {
    const options = { logger: false, abortOnError: false } as const;
    const adapter = new FastifyAdapter({ trustProxy: (parts.trust ?? false) as string });
    const app = await NestFactory.create<NestFastifyApplication>(createModule(parts), adapter, options);
    await app.listen(0, '127.0.0.1');
    return overHttp(app.getHttpServer());
  },
} as const;

for (const [platform, create] of Object.entries(PLATFORMS)) {
  describeIdentity({
    name: `nestjs on ${platform}`,
    create,
    skip: {
      'Forwarded is read from the right, quotes and all': ONLY_XFF,
      'Forwarded that cannot be read is nobody': ONLY_XFF,
    },
  });

  describe(`the deployment of an application on Nest on ${platform}`, () => {
    let served: RunningApp | undefined;
    afterEach(() => served?.close());

    /** What is said of five requests. */
    async function said(
      parts: Partial<Parts>,
      headers: Record<string, string> = {},
      method = 'GET',
    ): Promise<[code: string, times: number][]> {
      const codes: string[] = [];
      const limiter = createLimiter({ onWarning: ({ code }) => void codes.push(code) });
      served = await create({ limiter, policy: read(), trust: undefined, ...parts });
      for (let i = 0; i < 5; i++)
        await (await served.fetch(new Request('http://app.test/', { headers, method }))).text();
      expect(codes).toEqual([...limiter.warnings.keys()]);
      return [...limiter.warnings];
    }

    const xff = { 'x-forwarded-for': '203.0.113.7' };

    it.each<[trust: unknown, codes: readonly string[]]>([
      [true, ['trust-everything']],
      [false, ['forwarding-header-ignored']],
      ['10.0.0.0/8', ['forwarding-header-ignored']],
      ['loopback', []],
    ])('trust in %j', async (trust, codes) => {
      expect(await said({ trust }, xff)).toEqual(codes.map((code) => [code, 5]));
    });

    it('trust in a number of hops', async () => {
      // Up to Nest 11, the Fastify that comes along counts them.
      const ignored = [
        ['forwarding-header-ignored', 5],
        ['hop-count-ignored', 5],
      ];
      expect([[], ignored]).toContainEqual(await said({ trust: 1 }, xff));
    });

    it('development on loopback is no wrong deployment', async () => {
      expect(await said({})).toEqual([]);
      await served?.close();
      expect(await said({ trust: 'loopback' }, { 'x-forwarded-for': '127.0.0.1' })).toEqual([]);
    });

    it('a limiter above the authentication is where it belongs, and learns of the user', async () => {
      expect(await said({ auth: 'below' })).toEqual([]);
    });

    it('one below it never sees what the authentication rejects', async () => {
      expect(await said({ auth: 'above' })).toEqual([['guard-order', 1]]);
    });
  });
}
