import { definePolicy, read, username } from '@tollgate/express';
import type { Request } from 'express';

/** Everything: 1000 requests a minute for each caller. */
export const everything = read();

/** Guessing one account's password from one address is slow; guessing many accounts' from there is not much faster. */
export const login = definePolicy<Request>({
  name: 'login',
  limits: [
    { per: ['ip', username((req) => emailOf(req.body))], limit: 5, window: '1m' },
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

/** The e-mail address as the client spelt it, or whatever is in its place. */
export function emailOf(body: unknown): unknown {
  return ((body ?? {}) as { email?: unknown }).email;
}
