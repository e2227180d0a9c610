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
  const asked = partition<R>('username', (req, ctx) =>
    andThen(resolve(req, ctx), (name) => {
      const text = textOf(name);
      return text === undefined ? undefined : normalize(text);
    }),
  );
  // People type their password into the wrong field.
  return { ...asked, isPrivate: true };
}

/** A body may hold anything: a number or a list is what an application that turns it into text takes it for. */
export function textOf(name: unknown): string | undefined {
  if (typeof name === 'string') return name;
  if (typeof name === 'number' || typeof name === 'bigint') return String(name);
  return Array.isArray(name) && name.length <= MAX_ITEMS ? textOf(name.map(textOf).join(',')) : undefined;
}

const MAX_ITEMS = 10;
/** NFKC takes quadratic time to order combining marks, and nobody's name is that long: 100 kB of them would take 1.4 s. */
const MAX_NORMALIZED = 512;

/**
 * NFKC, without control and invisible characters, in lower case, trimmed: what a person would read as the same name.
 * Longer than 512 characters it stays without NFKC. Plus-addressing and dots are left alone: only the mail provider knows
 * whether they matter.
 */
export function normalizeUsername(name: string): string {
  const visible = withoutInvisible(name).trim();
  if (visible.length > MAX_NORMALIZED) return visible.toLowerCase();
  const plain = withoutInvisible(visible.normalize('NFKC'));
  return plain.toLowerCase().normalize('NFKC').trim();
}

function withoutInvisible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '');
}
