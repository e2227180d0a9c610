import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { metrics } from '@opentelemetry/api';
import type { MeterProvider } from '@opentelemetry/sdk-metrics';
import {
  createLimiter,
  definePolicy,
  type Limiter,
  type LimiterOptions,
  type Policy,
  type PolicyOptions,
  type PolicySpec,
  type RequestContext,
} from '@tollgate/core';
import { redisStore } from '@tollgate/core/redis';
import { blocksOf } from './blocks.ts';

/** One line of a scrape. */
export interface Sample {
  readonly name: string;
  readonly value: number;
  readonly labels: Readonly<Record<string, string>>;
}

/** What a client sends, none of which may be in the scrape. */
export const PRIVATE: readonly string[] = ['203.0.113.77', 'user-ada', 'key-secret', 'agent-secret', 'route-secret'];
const [IP, USER, KEY, AGENT, ROUTE] = PRIVATE as [string, string, string, string, string];

const page = 'docs/telemetry.md';
const root = join(import.meta.dirname, '../..');

/** Runs the example of the page, makes decisions of all kinds, and reads what Prometheus would. */
export async function scrape(): Promise<{ readonly text: string; readonly samples: readonly Sample[] }> {
  const port = await freePort();
  await runExample(port);
  try {
    await decideInMemory();
    const dead = await decideWithoutStore(`redis://127.0.0.1:${await freePort()}`, 5000, 1);
    const silent = await listen(createServer());
    // Six without an answer: the breaker opens.
    const hanging = await decideWithoutStore(`redis://127.0.0.1:${portOf(silent)}`, 20, 6);
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    await Promise.all([dead.close(), hanging.close()]);
    silent.close();
    return { text, samples: samplesOf(text) };
  } finally {
    await (metrics.getMeterProvider() as MeterProvider).shutdown();
    metrics.disable();
  }
}

/** As it stands on the page: a module of its own, beside this one so that it finds its packages. */
async function runExample(port: number): Promise<void> {
  const example = blocksOf(page, readFileSync(join(root, page), 'utf8')).find(({ code }) =>
    code.includes('PrometheusExporter'),
  );
  mkdirSync(join(import.meta.dirname, '.generated'), { recursive: true });
  const directory = mkdtempSync(join(import.meta.dirname, '.generated/example-'));
  const file = join(directory, 'prometheus.ts');
  writeFileSync(file, example?.code ?? '');
  process.env['METRICS_PORT'] = String(port);
  try {
    await import(pathToFileURL(file).href);
  } finally {
    delete process.env['METRICS_PORT'];
    rmSync(directory, { recursive: true });
  }
}

async function decideInMemory(): Promise<void> {
  const limiter = limiterWith({});
  const policies = [
    policyOf('read', { limits: [{ limit: 3, window: '1m', block: '1m' }] }),
    policyOf('tried', { limits: [{ limit: 1, window: '1m' }], mode: 'shadow' }),
  ];
  await decide(limiter, [policies], 6);
  await decide(limiter, [policyOf('never', { limits: [{ limit: 5, window: '1m' }], cost: () => 6 })], 1);
  const singles = (['ip', 'user', 'apiKey', 'route'] as const).map((per) =>
    policyOf(per, { limits: [{ limit: 1, window: '1m', per }] }),
  );
  await decide(limiter, singles, 2);
}

async function decideWithoutStore(url: string, deadline: number, times: number): Promise<Limiter> {
  const limiter = limiterWith({ store: redisStore(url), deadline });
  const limits = [{ limit: 4, window: '1m' }] as const;
  const modes = (['local', 'open', 'closed'] as const).map((onStoreFailure) =>
    policyOf(onStoreFailure, { limits, onStoreFailure }),
  );
  await decide(limiter, modes, times);
  return limiter;
}

/** One request after the other: a breaker counts failures in a row. */
async function decide(limiter: Limiter, specs: readonly PolicySpec[], times: number): Promise<void> {
  for (const spec of Array.from({ length: times }, () => specs).flat()) {
    // oxlint-disable-next-line no-await-in-loop -- as above
    await limiter.check(contextOf(), spec);
  }
}

function limiterWith(options: LimiterOptions): Limiter {
  return createLimiter({ onWarning: () => {}, identify: () => USER, ...options });
}

function policyOf(name: string, options: Omit<PolicyOptions, 'name'>): Policy {
  return definePolicy({ name, ...options });
}

function contextOf(): RequestContext {
  const headers: Record<string, string> = { 'x-api-key': KEY, 'user-agent': AGENT };
  return { method: 'GET', path: `/${ROUTE}`, route: ROUTE, header: (n) => headers[n], ip: IP, user: USER, raw: {} };
}

/** The text format of Prometheus. */
function samplesOf(text: string): readonly Sample[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', all = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      const labels = [...all.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, of]) => [label, of]);
      return { name, value: Number(value), labels: Object.fromEntries(labels) as Record<string, string> };
    });
}

async function freePort(): Promise<number> {
  const server = await listen(createServer());
  const port = portOf(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function listen(server: Server): Promise<Server> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', () => resolve(server));
  });
}

function portOf(server: Server): number {
  return (server.address() as { port: number }).port;
}
