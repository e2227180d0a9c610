import { definePolicy, partition, read } from '@tollgate/express';
import type { Request } from 'express';

/** Everything: 1000 requests a minute for each caller. */
export const everything = read();

/** Guessing one account's password from one address is slow; guessing many accounts' from there is not much faster. */
export const login = definePolicy<Request>({
  name: 'login',
  limits: [
    { per: ['ip', partition('username', (req) => emailOf(req.body))], limit: 5, window: '1m' },
    { per: 'ip', limit: 20, window: '1m' },
  ],
  disclose: 'retry-after',
});

/** A search costs as much as ten ordinary requests: six a minute. */
export const search = definePolicy({
  name: 'search',
  limits: [{ limit: 60, window: '1m' }],
  cost: 10,
});

/** One spelling for each account, or `ADA@example.com ` would get five attempts of its own. */
export function emailOf(body: unknown): string | undefined {
  const { email } = (body ?? {}) as { email?: unknown };
  return typeof email === 'string' ? email.normalize('NFKC').trim().toLowerCase() : undefined;
}
