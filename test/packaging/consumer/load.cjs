require('reflect-metadata');

module.exports = {
  core: require('@tollgate/core'),
  redis: require('@tollgate/core/redis'),
  expressAdapter: require('@tollgate/express'),
  fastifyAdapter: require('@tollgate/fastify'),
  nestAdapter: require('@tollgate/nestjs'),
  honoAdapter: require('@tollgate/hono'),
  express: require('express'),
  fastify: require('fastify'),
  Hono: require('hono').Hono,
};
