import type { Resolver } from '../context.ts';
import { andThen } from '../maybe.ts';
import { checkFunction, checkOptions, invalid } from '../options.ts';
import { type CustomPartition, partition } from './partition.ts';

export interface UsernameOptions {
  /**
   * How the account look-up spells a name; the limiter has to spell it alike, or `Bob` has a budget of his own beside
   * `bob`. Default: {@link normalizeUsername}.
   */
  readonly normalize?: (name: string) => string;
}

/**
 * A partition by username or e-mail address, for logins.
 * @example username((req) => req.body?.email)
 * @throws ConfigError when an option is wrong
 */
export function username<R = unknown>(
  resolve: Resolver<R, unknown>,
  options: UsernameOptions = {},
): CustomPartition<R> {
  checkOptions('username', options, ['normalize']);
  if (typeof resolve !== 'function') invalid('username.resolve', 'a function', resolve);
  checkFunction('username.normalize', options.normalize);
  const { normalize = normalizeUsername } = options;
  return partition<R>('username', (req, ctx) =>
    // A body may hold anything: what is no text is no username.
    andThen(resolve(req, ctx), (name) => (typeof name === 'string' ? normalize(name) : undefined)),
  );
}

/**
 * NFKC, without control and invisible formatting characters, in lower case, trimmed: what a person would read as the same
 * name. Plus-addressing and dots are left alone: only the mail provider knows whether they matter.
 */
export function normalizeUsername(name: string): string {
  const plain = name.normalize('NFKC').replace(/[\p{Cc}\p{Cf}]/gu, '');
  return plain.toLowerCase().normalize('NFKC').trim();
}
