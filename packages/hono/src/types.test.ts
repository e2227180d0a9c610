import { type Context, Hono } from 'hono';
import { hc, type InferRequestType, type InferResponseType } from 'hono/client';
import { createFactory } from 'hono/factory';
import { validator } from 'hono/validator';
import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  auth,
  createLimiter,
  type Decision,
  expensive,
  rateLimit,
  type RateLimitOptions,
  type RateLimitVariables,
  read,
} from './index.ts';

const options: RateLimitOptions = {
  limiter: createLimiter({ onWarning: () => {} }),
  clientIp: () => '203.0.113.7',
};
const limit = rateLimit(read(), options);
const json = validator('json', (value: unknown) => value as { readonly title: string });

describe('the types of an application on Hono', () => {
  it('know the decision wherever the limiter was mounted', async () => {
    const declared = new Hono<{ Variables: RateLimitVariables }>().use(limit).get('/', (c) => {
      expectTypeOf(c.get('rateLimit')).toEqualTypeOf<Decision | undefined>();
      expectTypeOf(c.var.rateLimit).toEqualTypeOf<Decision | undefined>();
      return c.text(String(c.var.rateLimit?.allowed));
    });
    const chained = new Hono().use(limit).get('/', (c) => {
      expectTypeOf(c.var.rateLimit).toEqualTypeOf<Decision | undefined>();
      return c.text(String(c.get('rateLimit')?.allowed));
    });
    const onRoute = new Hono().get('/', limit, (c) => {
      expectTypeOf(c.get('rateLimit')).toEqualTypeOf<Decision | undefined>();
      return c.text(String(c.var.rateLimit?.allowed));
    });
    for (const app of [declared, chained, onRoute]) expect(await (await app.request('/')).text()).toBe('true');
  });

  it("keep the application's own", () => {
    interface Env {
      Bindings: { KEY: string };
      Variables: { tenant: string };
    }
    new Hono<Env>().use(limit).get('/', limit, (c) => {
      expectTypeOf(c.get('tenant')).toEqualTypeOf<string>();
      expectTypeOf(c.env.KEY).toEqualTypeOf<string>();
      expectTypeOf(c.get('rateLimit')).toEqualTypeOf<Decision | undefined>();
      return c.body(null);
    });
    createFactory<Env>().createHandlers(limit, (c) => {
      expectTypeOf(c.get('tenant')).toEqualTypeOf<string>();
      return c.body(null);
    });
    // A policy may ask an application's own context.
    const byTenant = expensive<Context<Env>>({ cost: (c) => c.get('tenant').length });
    new Hono<Env>().use(rateLimit(byTenant, options));
    const login = auth<Context>({ username: (c) => c.req.query('name') });
    new Hono<Env>().post('/login', rateLimit([login, read()], options), (c) => c.body(null));
    new Hono<Env>().use(rateLimit((ctx) => (ctx.raw.req.path === '/' ? false : login), options));
  });

  it('keep parameters, and what was validated', () => {
    new Hono().post('/teams/:team/notes/:id?', limit, json, (c) => {
      expectTypeOf(c.req.param('team')).toEqualTypeOf<string>();
      expectTypeOf(c.req.param('id')).toEqualTypeOf<string | undefined>();
      expectTypeOf(c.req.valid('json')).toEqualTypeOf<{ readonly title: string }>();
      return c.body(null);
    });
  });

  it('keep what a typed client sends and gets', async () => {
    const app = new Hono()
      .use(limit)
      .get('/notes/:id', limit, (c) => c.json({ id: c.req.param('id'), limit: c.var.rateLimit?.quota?.limit ?? 0 }))
      .post('/notes', limit, json, (c) => c.json({ title: c.req.valid('json').title }, 201))
      .route(
        '/more',
        new Hono().use(limit).get('/', (c) => c.text('more')),
      );
    const client = hc<typeof app>('http://app.test', { fetch: app.request });
    type Post = typeof client.notes.$post;
    expectTypeOf<InferRequestType<Post>>().toEqualTypeOf<{ json: { readonly title: string } }>();
    expectTypeOf<InferResponseType<Post, 201>>().toEqualTypeOf<{ title: string }>();
    expectTypeOf<InferResponseType<(typeof client.notes)[':id']['$get']>>().toEqualTypeOf<{
      id: string;
      limit: number;
    }>();
    const created = await client.notes.$post({ json: { title: 'one' } });
    expect(await created.json()).toEqual({ title: 'one' });
    const got = await client.notes[':id'].$get({ param: { id: '7' } });
    expect(await got.json()).toEqual({ id: '7', limit: 1000 });
    expect(await (await client.more.$get()).text()).toBe('more');
  });
});
