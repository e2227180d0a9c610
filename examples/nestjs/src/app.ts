import {
  type ArgumentsHost,
  Body,
  Catch,
  Controller,
  type DynamicModule,
  Get,
  HttpCode,
  HttpException,
  type INestApplication,
  Module,
  NotFoundException,
  Param,
  Post,
  Req,
  UnauthorizedException,
} from '@nestjs/common';
import { APP_FILTER, BaseExceptionFilter, NestFactory } from '@nestjs/core';
import {
  auth,
  createLimiter,
  expensive,
  type HttpRequest,
  type Limiter,
  normalizeUsername,
  RateLimit,
  RateLimitModule,
  read,
  SkipRateLimit,
} from '@tollgate/nestjs';
import { STATUS_CODES } from 'node:http';

const PRODUCTS = [
  { id: 1, name: 'Desk lamp', price: 39 },
  { id: 2, name: 'Standing desk', price: 420 },
  { id: 3, name: 'Office chair', price: 260 },
];
/** The demo's only account. A real application looks it up and compares a password hash. */
const ACCOUNT = { email: 'ada@example.com', password: 'engine' };

/** Everything: 1000 requests a minute for each caller. */
const everything = read();
/** Guards run after the body is parsed: this policy counts by what is in it. */
const login = auth({
  name: 'login',
  username: (request) => emailOf(request.body),
  success: ({ status }) => status === 200,
});
/** Six at once, and one more each ten seconds. */
const search = expensive({ name: 'search' });

@Controller()
class ShopController {
  @SkipRateLimit()
  @Get('health')
  health(): object {
    return { ok: true };
  }

  @Get()
  home(@Req() request: HttpRequest): object {
    const { remaining } = request.rateLimit?.quota ?? {};
    return { name: 'Tollgate demo shop', try: ['GET /products', 'POST /login', 'POST /search'], remaining };
  }

  @Get('products')
  products(): object {
    return PRODUCTS;
  }

  @Get('products/:id')
  product(@Param('id') wanted: string): object {
    const product = PRODUCTS.find(({ id }) => String(id) === wanted);
    if (product === undefined) throw new NotFoundException({ error: 'No such product' });
    return product;
  }

  // A route's policies come in place of the module's, so the one for everything is named again: decided together.
  @RateLimit([everything, login])
  @Post('login')
  @HttpCode(200)
  login(@Body() body: { password?: unknown } | undefined): object {
    if (emailOf(body) === ACCOUNT.email && body?.password === ACCOUNT.password) return { welcome: ACCOUNT.email };
    throw new UnauthorizedException({ error: 'Wrong email or password' });
  }

  @RateLimit([everything, search])
  @Post('search')
  @HttpCode(200)
  search(@Body() body: { query?: unknown } | undefined): object {
    const words = typeof body?.query === 'string' ? body.query.toLowerCase() : '';
    return { found: PRODUCTS.filter(({ name }) => name.toLowerCase().includes(words)) };
  }
}

/** Words Nest's own errors, which say `statusCode`, as the shop does. The answers of the shop, and denials, stay. */
@Catch(HttpException)
class ShopFilter extends BaseExceptionFilter {
  override catch(exception: HttpException, host: ArgumentsHost): void {
    const body = exception.getResponse();
    const isNests = typeof body === 'string' || 'statusCode' in body;
    const status = exception.getStatus();
    super.catch(isNests ? new HttpException({ error: STATUS_CODES[status] }, status) : exception, host);
  }
}

@Module({ controllers: [ShopController], providers: [{ provide: APP_FILTER, useClass: ShopFilter }] })
class ShopModule {
  static limitedBy(limiter: Limiter): DynamicModule {
    return { module: ShopModule, imports: [RateLimitModule.forRoot({ limiter, policy: everything })] };
  }
}

export function createApp(limiter = createLimiter()): Promise<INestApplication> {
  return NestFactory.create(ShopModule.limitedBy(limiter), { logger: ['error', 'warn'] });
}

/** One spelling for each account, or `ADA@example.com ` would get five attempts of its own. */
function emailOf(body: unknown): string | undefined {
  const { email } = (body ?? {}) as { email?: unknown };
  return typeof email === 'string' ? normalizeUsername(email) : undefined;
}
