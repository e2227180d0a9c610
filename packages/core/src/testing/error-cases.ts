import { expect } from 'vitest';
import { type AdapterTest, inTurn, remaining, statuses } from './adapter-bench.ts';

const AMPLE = { limit: { limit: 100, window: '1m' } } as const;

/** The cases of describeAdapter about handlers that fail, early and late, and about answers that come in pieces. */
export function errorCases(test: AdapterTest): void {
  for (const [path, what] of [
    ['/throw', 'throws'],
    ['/reject', 'rejects'],
  ] as const) {
    test(`a handler that ${what} is the error handler’s, with the headers, and is counted once`, async ({ start }) => {
      const client = await start(AMPLE);
      const response = await client.get(path);
      expect(response.status).toBe(500);
      expect(response.headers.get('ratelimit-remaining')).toBe('99');
      expect(client.errors.map(codeOf)).toEqual(['boom']);
      expect(await remaining(client)).toBe(98);
    });
  }

  test('a handler that throws when it has begun to answer is counted once', async ({ start }) => {
    const client = await start(AMPLE);
    const text = await bodyOf(client.get('/late'));
    expect(text.startsWith('one')).toBe(true);
    expect(client.errors.map(codeOf)).not.toContain('ERR_HTTP_HEADERS_SENT');
    expect(await remaining(client)).toBe(98);
  });

  test('a stream that fails midway ends, and is counted once', async ({ start }) => {
    const client = await start(AMPLE);
    const response = await client.get('/broken');
    expect([response.status, response.headers.get('ratelimit-remaining')]).toEqual([200, '99']);
    expect((await bodyOf(Promise.resolve(response))).startsWith('one')).toBe(true);
    expect(client.errors.map(codeOf)).not.toContain('ERR_HTTP_HEADERS_SENT');
    expect(await remaining(client)).toBe(98);
  });

  test('the headers are there before the handler has finished', async ({ start }) => {
    const client = await start(AMPLE);
    const response = await client.get('/early');
    expect(response.headers.get('ratelimit-remaining')).toBe('99');
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe('one');
    client.gate.open();
    expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe('two');
    expect((await reader.read()).done).toBe(true);
    expect(await remaining(client)).toBe(98);
  });

  test('a status of the handler stays, with its headers', async ({ start }) => {
    const client = await start();
    const responses = await inTurn(4, () => client.get('/teapot'));
    expect(statuses(responses)).toEqual([418, 418, 418, 429]);
    expect(responses.map(({ headers }) => headers.get('cache-control'))).toEqual([
      'max-age=60',
      'max-age=60',
      'max-age=60',
      'no-store',
    ]);
    expect(responses[2]?.headers.get('ratelimit-remaining')).toBe('0');
  });

  test('what counts failures alone gives back what worked, once', async ({ start }) => {
    const client = await start({ refundWhen: ({ status }) => status < 500 });
    for (let i = 0; i < 5; i++) {
      expect((await client.get('/stream')).status).toBe(200);
      await expect.poll(() => remaining(client), { timeout: 4000 }).toBe(2);
    }
    expect(statuses(await inTurn(4, () => client.get('/throw')))).toEqual([500, 500, 500, 429]);
  });

  test('what was cut off is not given back', async ({ start }) => {
    const client = await start({ ...AMPLE, refundWhen: ({ status }) => status === 200 });
    const gone = new AbortController();
    const cut = client.send('GET', '/slow', {}, gone.signal);
    await client.gate.reached(1);
    gone.abort();
    await expect(cut).rejects.toThrow('aborted');
    // By then the server knows as well.
    await inTurn(5, () => client.get('/health'));
    client.gate.open();
    await bodyOf(client.get('/stream'));
    await expect.poll(() => remaining(client), { timeout: 4000 }).toBe(98);
  });

  test('a chooser that throws is the error handler’s', async ({ start }) => {
    const client = await start(AMPLE);
    expect((await client.get('/chosen', { 'x-plan': 'broken' })).status).toBe(500);
    expect(client.errors.map(codeOf)).toEqual(['no such plan']);
    expect((await client.get('/chosen', { 'x-plan': 'pro' })).status).toBe(200);
  });

  test('functions of a policy that throw cause no error', async ({ start }) => {
    const fail = (): never => {
      throw new Error('of the application');
    };
    const client = await start({ skip: fail, refundWhen: fail, handler: fail });
    const responses = await inTurn(4, () => client.get('/read'));
    expect(statuses(responses)).toEqual([200, 200, 200, 429]);
    expect(client.errors).toEqual([]);
  });
}

/** The body, as far as it came. */
async function bodyOf(pending: Promise<Response>): Promise<string> {
  const response = await pending;
  let text = '';
  try {
    for await (const chunk of response.body as ReadableStream<Uint8Array>) text += Buffer.from(chunk).toString();
  } catch {
    // Cut off: the client learns that it has not got everything.
  }
  return text;
}

function codeOf(error: unknown): string {
  const { code, message } = error as { code?: string; message: string };
  return code ?? message;
}
