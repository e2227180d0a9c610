import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  type MessageEvent,
  Module,
  type ModuleMetadata,
  Req,
  Sse,
  UnauthorizedException,
  UseGuards,
} from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { of, type Observable } from 'rxjs';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  createLimiter,
  type Decision,
  definePolicy,
  type HttpRequest,
  type PolicySpec,
  RATE_LIMIT_OPTIONS,
  RateLimitGuard,
  RateLimitModule,
  read,
  type Warning,
} from './index.ts';
import { PLATFORMS, type TestApp, useApps } from './testing/app.ts';

let asked = 0;

/** Signs in who sends a name, refuses who sends `nobody`. */
@Injectable()
class SignIn implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    asked++;
    const request = context.switchToHttp().getRequest<HttpRequest>();
    const name = request.headers['x-name'];
    if (name === 'nobody') throw new UnauthorizedException();
    if (name !== undefined) Object.assign(request, { user: { id: name } });
    return true;
  }
}

@Controller()
class Plain {
  @Get()
  index(@Req() request: HttpRequest): string {
    return request.rateLimit?.identity.kind ?? 'none';
  }
}

@Controller()
@UseGuards(SignIn)
class SignedIn extends Plain {}

@Module({ providers: [{ provide: APP_GUARD, useClass: SignIn }] })
class AuthModule {}

const perIp = (limit: number) => definePolicy({ name: 'ip', limits: [{ limit, window: '1m', per: 'ip' }] });
const get = (app: TestApp, name?: string): Promise<Response> =>
  app.fetch('/', { headers: name === undefined ? {} : { 'x-name': name } });
const statusesOf = (answers: readonly Response[]): number[] => answers.map(({ status }) => status);

describe.each(PLATFORMS)('what the guard decided before authentication, on %s', (platform) => {
  const start = useApps();
  let warnings: Warning[];
  let decisions: Decision[];
  beforeEach(() => {
    [asked, warnings, decisions] = [0, [], []];
  });

  function limits(policy: PolicySpec<HttpRequest>): ReturnType<typeof RateLimitModule.forRoot> {
    const limiter = createLimiter({
      onWarning: (warning) => void warnings.push(warning),
      onDecision: (decision) => void decisions.push(decision),
    });
    return RateLimitModule.forRoot({ limiter, policy });
  }
  const places: Record<string, (policy: PolicySpec<HttpRequest>) => ModuleMetadata> = {
    'a guard of the controller': (policy) => ({ imports: [limits(policy)], controllers: [SignedIn] }),
    'a global guard of a module below': (policy) => ({ imports: [limits(policy), AuthModule], controllers: [Plain] }),
  };

  describe.each(Object.entries(places))('which is %s', (_, module) => {
    it('becomes the decision about the user that it names', async () => {
      const app = await start(platform, module(read({ limit: 2 })));
      const answers = [await get(app, 'ada'), await get(app, 'ada'), await get(app, 'ada')];
      answers.push(await get(app, 'bob'), await get(app, 'bob'));
      expect(statusesOf(answers)).toEqual([200, 200, 429, 200, 200]);
      expect(answers.map(({ headers }) => headers.get('ratelimit-remaining'))).toEqual(['1', '0', '0', '1', '0']);
      // The decision about the client has left nothing behind: one item, and no charge.
      for (const { headers } of answers) expect(headers.get('ratelimit-policy')).toBe('"read";q=2;w=60');
      expect(await answers[0]?.text()).toBe('user');
      expect(await app.statuses('/', 3)).toEqual([200, 200, 429]);
      expect(warnings).toEqual([]);
    });

    it('stands for a request that it refuses: it is counted, and then limited before it', async () => {
      const app = await start(platform, module(read({ limit: 2 })));
      const refused = [await get(app, 'nobody'), await get(app, 'nobody'), await get(app, 'nobody')];
      expect(statusesOf(refused)).toEqual([401, 401, 429]);
      expect(asked).toBe(2);
    });

    it('is no decision by a limit per user, which counts then', async () => {
      const policy = definePolicy({ name: 'user', limits: [{ limit: 1, window: '1m', per: 'user' }] });
      const app = await start(platform, module(policy));
      const answers = [await get(app, 'ada'), await get(app, 'ada'), await get(app, 'bob')];
      expect(statusesOf(answers)).toEqual([200, 429, 200]);
    });

    it('is withdrawn where a skip lets that user off', async () => {
      const skip = ({ user }: HttpRequest) => (user as { id?: string } | undefined)?.id === 'staff';
      const app = await start(platform, module(read({ limit: 2, skip })));
      const staff = [await get(app, 'staff'), await get(app, 'staff'), await get(app, 'staff')];
      expect(statusesOf(staff)).toEqual([200, 200, 200]);
      expect(staff.map(({ headers }) => headers.get('ratelimit'))).toEqual([null, null, null]);
      expect(await staff[0]?.text()).toBe('none');
      expect(statusesOf([await get(app, 'ada'), await get(app, 'ada'), await get(app, 'ada')])).toEqual([
        200, 200, 429,
      ]);
    });

    it('stands where it does not matter who the user is', async () => {
      const app = await start(platform, module(perIp(3)));
      expect(statusesOf([await get(app, 'ada'), await get(app, 'bob'), await get(app, 'ada')])).toEqual([
        200, 200, 200,
      ]);
      expect(decisions).toHaveLength(3);
      expect((await get(app, 'bob')).status).toBe(429);
    });
  });

  it('is made again before an event stream begins', async () => {
    @Controller()
    @UseGuards(SignIn)
    class Streaming {
      @Sse('events')
      events(): Observable<MessageEvent> {
        return of({ data: 'one' }, { data: 'two' });
      }
    }
    const app = await start(platform, { imports: [limits(read({ limit: 1 }))], controllers: [Streaming] });
    const as = (name: string): RequestInit => ({ headers: { 'x-name': name, 'accept': 'text/event-stream' } });
    const first = await app.fetch('/events', as('ada'));
    expect(first.headers.get('ratelimit')).toMatch(/^"read";r=0;t=\d+$/);
    expect(await first.text()).toMatch(/data: one[^]*data: two/);
    const denied = await app.fetch('/events', as('ada'));
    // Nest 10 sends the head of a stream before its interceptors run: the denial is an event then.
    expect([200, 429]).toContain(denied.status);
    expect(await denied.text()).not.toMatch(/data: (one|two)/);
    expect(await app.statuses('/events', 1, as('bob'))).toEqual([200]);
  });

  it('knows the user where the global guard of a module above has named one', async () => {
    const app = await start(platform, { imports: [AuthModule, limits(read({ limit: 1 }))], controllers: [Plain] });
    expect(statusesOf([await get(app, 'ada'), await get(app, 'bob'), await get(app, 'ada')])).toEqual([200, 200, 429]);
    expect(decisions).toHaveLength(3);
  });

  it('is all there is with @UseGuards and no module, and comes again where it is named again', async () => {
    @Controller()
    @UseGuards(RateLimitGuard, SignIn)
    class Once extends Plain {}
    @Controller('again')
    @UseGuards(RateLimitGuard, SignIn, RateLimitGuard)
    class Again extends Plain {}
    const limiter = createLimiter({ onWarning: () => {} });
    const options = { limiter, policy: read({ limit: 2 }) };
    const app = await start(platform, {
      providers: [{ provide: RATE_LIMIT_OPTIONS, useValue: options }],
      controllers: [Once, Again],
    });
    expect(await app.statuses('/', 3, { headers: { 'x-name': 'ada' } })).toEqual([200, 200, 429]);
    const as = (name: string): RequestInit => ({ headers: { 'x-name': name, 'user-agent': 'another' } });
    expect(await app.statuses('/again', 3, as('bob'))).toEqual([200, 200, 429]);
    expect(await app.statuses('/again', 3, as('eve'))).toEqual([200, 200, 429]);
  });
});
