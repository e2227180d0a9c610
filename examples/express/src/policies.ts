import { auth, expensive, read } from '@tollgate/express';

/** Everything: 1000 requests a minute for each caller. */
export const everything = read();

/** Guessing one account's password from one address is slow; guessing many accounts' from there is not much faster. */
export const login = auth({
  name: 'login',
  username: (req) => emailOf(req.body),
  success: ({ status }) => status === 200,
});

/** Six at once, and one more each ten seconds. */
export const search = expensive({ name: 'search' });

/** The e-mail address as the client spelt it, or whatever is in its place. */
export function emailOf(body: unknown): unknown {
  return ((body ?? {}) as { email?: unknown }).email;
}
