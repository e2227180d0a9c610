import {
  Body,
  Controller,
  type DynamicModule,
  Get,
  HttpCode,
  type INestApplication,
  Module,
  NotFoundException,
  Param,
  Post,
  Req,
  UnauthorizedException,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
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

const PRODUCTS = [
  { id: 1, name: 'Desk lamp', price: 39 },
  { id: 2, name: 'Standing desk', price: 420 },
  { id: 3, name: 'Office chair', price: 260 },
];
/** The example's only account. A real application looks it up and compares a password hash. */
const ACCOUNT = { email: 'ada@example.com', password: 'engine' };

/** Guards run after the body is parsed: this policy counts by what is in it. */
const login = auth({
  name: 'login',
  username: (request) => emailOf(request.body),
  success: ({ status }) => status < 300,
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
    return { name: 'Tollgate example shop', remaining: request.rateLimit?.quota?.remaining };
  }

  @Get('products')
  products(): object {
    return PRODUCTS;
  }

  @Get('products/:id')
  product(@Param('id') wanted: string): object {
    const product = PRODUCTS.find(({ id }) => String(id) === wanted);
    if (product === undefined) throw new NotFoundException('No such product');
    return product;
  }

  @RateLimit(login)
  @Post('login')
  @HttpCode(200)
  login(@Body() body: { password?: unknown } | undefined): object {
    if (emailOf(body) === ACCOUNT.email && body?.password === ACCOUNT.password) return { welcome: ACCOUNT.email };
    throw new UnauthorizedException('Wrong email or password');
  }

  @RateLimit(search)
  @Post('search')
  @HttpCode(200)
  search(@Body() body: { query?: unknown } | undefined): object {
    const words = typeof body?.query === 'string' ? body.query.toLowerCase() : '';
    return { found: PRODUCTS.filter(({ name }) => name.toLowerCase().includes(words)) };
  }
}

@Module({ controllers: [ShopController] })
class ShopModule {
  static limitedBy(limiter: Limiter): DynamicModule {
    return { module: ShopModule, imports: [RateLimitModule.forRoot({ limiter, policy: read() })] };
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
