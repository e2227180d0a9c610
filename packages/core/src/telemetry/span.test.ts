import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AlwaysOffSampler,
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RequestContext } from '../context.ts';
import type { Decision } from '../decision.ts';
import { createLimiter } from '../limiter.ts';
import type { LimiterOptions } from '../limiter-options.ts';
import { definePolicy } from '../policy/define-policy.ts';
import { memoryStore } from '../stores/memory-store.ts';
import type { Store } from '../stores/store.ts';

const exporter = new InMemorySpanExporter();
const spanProcessors = [new SimpleSpanProcessor(exporter)];

beforeEach(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors }));
});

afterEach(() => {
  exporter.reset();
  trace.disable();
  context.disable();
});

const IP = '203.0.113.7';

function contextOf(user?: string, headers: Record<string, string> = {}): RequestContext {
  return { method: 'GET', path: '/', route: undefined, header: (n) => headers[n], ip: IP, user, raw: {} };
}

function policyOf(name: string, limit: number) {
  return definePolicy({ name, limits: [{ limit, window: '1m', per: ['ip', 'identity'] }] });
}

/** Answers later, as one that is asked over a network. */
function laterStore(): Store {
  const { take, ...store } = memoryStore();
  return { ...store, take: (requests) => new Promise((resolve) => setTimeout(() => resolve(take(requests)), 1)) };
}

/** Decides requests, each in a span of its own and all at once; answers what the spans were told. */
async function decideTraced(options: LimiterOptions, requests: readonly RequestContext[], limit = 5) {
  const limiter = createLimiter({ onWarning: () => {}, ...options });
  const policies = [policyOf('one', limit), policyOf('two', 50)];
  const tracer = trace.getTracer('test');
  const decisions = requests.map((ctx) =>
    tracer.startActiveSpan(ctx.user as string, async (span) => {
      const decision = await limiter.check(ctx, policies);
      span.end();
      return decision;
    }),
  );
  await Promise.all(decisions);
  return exporter.getFinishedSpans();
}

describe('the span of a request', () => {
  it.each([memoryStore, laterStore])('is told its decision: %o', async (makeStore) => {
    const users = ['ann', 'bob'];
    const spans = await decideTraced(
      { store: makeStore() },
      users.map((user) => contextOf(user)),
    );
    expect(spans.map(({ name }) => name).toSorted()).toEqual(users);
    for (const { attributes } of spans) {
      expect(attributes).toEqual({
        'ratelimit.policy': 'one,two',
        'ratelimit.key': expect.stringMatching(/^[0-9a-f]{32}$/) as string,
        'ratelimit.allowed': true,
        'ratelimit.source': 'store',
        'ratelimit.limit': 'one',
        'ratelimit.remaining': 4,
      });
    }
    expect(new Set(spans.map(({ attributes }) => attributes['ratelimit.key'])).size).toBe(2);
  });

  it('is told a denial, and keys that are the same for one caller and others under a pepper', async () => {
    await decideTraced({}, [contextOf('ann'), contextOf('ann')], 1);
    const spans = await decideTraced({ pepper: 'p'.repeat(16) }, [contextOf('ann')], 1);
    expect(spans.map(({ attributes }) => attributes['ratelimit.allowed'])).toEqual([true, false, true]);
    const [first, second, peppered] = spans.map(({ attributes }) => attributes['ratelimit.key']);
    expect(second).toBe(first);
    expect(peppered).not.toBe(first);
  });

  it('is told no quota of a degraded decision', async () => {
    const store = { ...memoryStore(), take: () => Promise.reject(new Error('away')) };
    const [span] = await decideTraced({ store }, [contextOf('ann')]);
    expect(span?.attributes).toMatchObject({ 'ratelimit.source': 'local', 'ratelimit.allowed': true });
    expect(span?.attributes).not.toHaveProperty('ratelimit.remaining');
  });

  it('has nothing of the caller in the clear', async () => {
    const spans = await decideTraced({}, [
      contextOf('zoe'),
      contextOf(undefined, { 'x-api-key': 'secret-1' }),
      contextOf(undefined, { 'user-agent': 'agent-1' }),
    ]);
    const told = JSON.stringify(spans.map(({ attributes }) => attributes));
    for (const secret of [IP, 'zoe', 'secret-1', 'agent-1']) expect(told).not.toContain(secret);
    expect(new Set(spans.map(({ attributes }) => attributes['ratelimit.key'])).size).toBe(3);
  });

  it('is left alone where it does not record, and may be none', async () => {
    trace.disable();
    trace.setGlobalTracerProvider(new BasicTracerProvider({ sampler: new AlwaysOffSampler(), spanProcessors }));
    expect(await decideTraced({}, [contextOf('ann')])).toEqual([]);
    expect(createLimiter().check(contextOf('ann'), policyOf('one', 5))).toMatchObject({ allowed: true });
  });

  it('breaks no decision, whatever it throws', () => {
    const span = {
      isRecording: () => true,
      setAttributes() {
        throw new Error('broken');
      },
    };
    const decision = context.with(trace.setSpan(context.active(), span as never), () =>
      createLimiter().check(contextOf('ann'), policyOf('one', 5)),
    );
    expect((decision as Decision).allowed).toBe(true);
  });
});
