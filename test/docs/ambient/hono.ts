// What examples for Hono may use without declaring it.
import type { Limiter, RateLimitVariables } from '@tollgate/hono';
import type { Handler, Hono } from 'hono';

declare global {
  const app: Hono<{ Variables: RateLimitVariables }>;
  const limiter: Limiter;
  const login: Handler;
  const search: Handler;
}
