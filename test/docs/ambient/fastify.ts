// What examples for Fastify may use without declaring it.
import type { Limiter } from '@tollgate/fastify';
import type { FastifyInstance, RouteHandlerMethod } from 'fastify';

declare global {
  const app: FastifyInstance;
  const limiter: Limiter;
  const login: RouteHandlerMethod;
  const search: RouteHandlerMethod;
}
