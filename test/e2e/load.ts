import autocannon from 'autocannon';
import { parseList } from 'structured-headers';
import { expect } from 'vitest';

/** What one client got: every response's status and headers. */
export interface Response {
  readonly status: number;
  readonly headers: Headers;
}

/** Sends `amount` requests as one client, a few at a time. */
export async function load(url: string, amount: number): Promise<Response[]> {
  const responses: Response[] = [];
  const result = await autocannon({
    url,
    amount,
    connections: 5,
    headers: { 'x-api-key': 'load' },
    setupClient: (client) =>
      client.on('headers', ({ statusCode, headers }) => {
        responses.push({ status: statusCode, headers: new Headers(pairs(headers)) });
      }),
  });
  expect(result).toMatchObject({ errors: 0, timeouts: 0 });
  expect(responses).toHaveLength(amount);
  return responses;
}

export function withStatus(status: number, responses: readonly Response[]): Response[] {
  return responses.filter((response) => response.status === status);
}

/** The number that `RateLimit` says is left; both headers are read by somebody else's parser. */
export function remainingOf({ headers }: Response): number {
  const quota = new Map(Object.entries({ q: 1000, w: 60 }));
  expect(parseList(headers.get('ratelimit-policy') ?? '')).toEqual([['read', quota]]);
  const [[name, parameters] = [], ...others] = parseList(headers.get('ratelimit') ?? '');
  expect([name, others]).toEqual(['read', []]);
  expect(parameters?.get('t')).toBeTypeOf('number');
  return Number(parameters?.get('r'));
}

/** Each of the 1000 units once, whoever handed it out: 0 to 999. */
export const EACH_UNIT: readonly number[] = Array.from({ length: 1000 }, (_, unit) => unit);

export function remainders(responses: readonly Response[]): number[] {
  return responses.map(remainingOf).toSorted((a, b) => a - b);
}

function pairs(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, i) => (i % 2 === 0 ? [[name, raw[i + 1] ?? '']] : []));
}
