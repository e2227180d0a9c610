import { type INestApplication, Module, type ModuleMetadata } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { Server } from 'node:http';
import { afterEach } from 'vitest';

export const PLATFORMS = ['express', 'fastify'] as const;
export type Platform = (typeof PLATFORMS)[number];

export interface TestApp {
  readonly nest: INestApplication;
  /** Where it listens. */
  readonly url: string;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** The statuses of requests in turn. */
  statuses(path: string, times: number, init?: RequestInit): Promise<number[]>;
}

export type Start = (
  platform: Platform,
  module: ModuleMetadata,
  configure?: (app: INestApplication) => unknown,
  create?: (adapter: ExpressAdapter) => Promise<INestApplication> | INestApplication,
) => Promise<TestApp>;

/** Starts applications that end with the test. */
export function useApps(): Start {
  const running: INestApplication[] = [];
  afterEach(async () => {
    for (const app of running.splice(0)) {
      (app.getHttpServer() as Server).closeAllConnections();
      await app.close();
    }
  });

  return async function start(platform, module, configure = () => {}, create = createFrom(module)) {
    const adapter = platform === 'express' ? new ExpressAdapter() : new FastifyAdapter();
    const nest = await create(adapter as ExpressAdapter);
    await configure(nest);
    await nest.listen(0, '127.0.0.1');
    running.push(nest);
    const url = await nest.getUrl();
    const send: TestApp['fetch'] = (path, init) => fetch(url + path, init);
    const statuses: TestApp['statuses'] = async (path, times, init) => {
      const all: number[] = [];
      for (let i = 0; i < times; i++) all.push((await send(path, init)).status);
      return all;
    };
    return { nest, url, fetch: send, statuses };
  };
}

function createFrom(module: ModuleMetadata): (adapter: ExpressAdapter) => Promise<INestApplication> {
  @Module(module)
  class AppModule {}
  return (adapter) => NestFactory.create(AppModule, adapter, { logger: false, abortOnError: false });
}
