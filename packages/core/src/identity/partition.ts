import type { RequestContext, Resolver } from '../context.ts';
import { invalid } from '../options.ts';
import { andThen, isPromise, mapInOrder, type MaybePromise } from '../maybe.ts';
import { type Caller, hashedToken, token, userId } from './identity.ts';

/** A partition of the application's own: a tenant, a username, a project. */
export interface CustomPartition<R = unknown> {
  readonly name: string;
  readonly resolve: Resolver<R, string | number | bigint | undefined>;
  /** Whether its values may be secret or personal, and are only stored hashed. */
  readonly isPrivate?: boolean;
}

const BUILT_IN = ['identity', 'ip', 'user', 'apiKey', 'route', 'global'] as const;

/** Who shares a counter. A tuple of these shares one counter for each combination. */
export type Partition<R = unknown> = (typeof BUILT_IN)[number] | CustomPartition<R>;

/** `site` is internal: the backstop's wider prefix of the client's address. */
export type PartitionPart<R> = Partition<R> | 'site';

/**
 * Names a partition of the application's own.
 * @param name letters, digits, `_` and `-`, 1 to 32 characters
 * @param resolve the value; `undefined` (or an error) means that the limit cannot be counted for this request
 */
export function partition<R = unknown>(name: string, resolve: CustomPartition<R>['resolve']): CustomPartition<R> {
  checkCustom('partition', { name, resolve });
  return { name, resolve };
}

function checkCustom(at: string, { name, resolve }: { readonly name: unknown; readonly resolve: unknown }): void {
  if (typeof name !== 'string' || !/^[\w-]{1,32}$/.test(name))
    invalid(`${at}.name`, '1 to 32 letters, digits, _ or -', name);
  if ((BUILT_IN as readonly string[]).includes(name)) invalid(`${at}.name`, `other than ${BUILT_IN.join(', ')}`, name);
  if (typeof resolve !== 'function') invalid(`${at}.resolve`, 'a function', resolve);
}

/** @throws ConfigError when a limit's `per` names no partition. */
export function checkPartitions<R>(option: string, per: unknown): readonly Partition<R>[] {
  const parts: unknown[] = Array.isArray(per) ? [...(per as unknown[])] : [per];
  const rule = `one of ${BUILT_IN.join(', ')}, partition(name, resolve), or a non-empty array of these`;
  if (parts.length === 0) invalid(option, rule, per);
  for (const part of parts) {
    const custom = typeof part === 'object' && part !== null && typeof (part as CustomPartition).resolve === 'function';
    if (custom) checkCustom(option, part as CustomPartition);
    else if (!(BUILT_IN as readonly unknown[]).includes(part)) invalid(option, rule, part);
  }
  return parts as Partition<R>[];
}

export function partitionName(part: PartitionPart<never>): string {
  return typeof part === 'string' ? part : part.name;
}

/** Where a counter lives: the partition itself, and the hash tag that decides its slot in a Redis Cluster. */
export interface Place {
  readonly partition: string;
  readonly tag: string;
}

/** A part that has no value for this request. Where the application should have given one, that is worth a warning. */
export interface Unresolved {
  readonly part: string;
  readonly custom: boolean;
}

const MAX_LENGTH = 64;

/** What partitions of the application's own were for one request: each is asked once, however many limits it is in. */
export interface Known {
  tokens?: Map<unknown, MaybePromise<string | undefined>>;
}

/** Resolves the partition of one limit for one request; a part without a value makes the limit not apply. */
export function toPlace<R>(
  parts: readonly PartitionPart<R>[],
  ctx: RequestContext<R>,
  caller: Caller,
  hash: (value: string) => string,
  known: Known = {},
): MaybePromise<Place | Unresolved> {
  return andThen(
    mapInOrder(parts, (part) => toToken(part, ctx, caller, hash, known)),
    (tokens) => {
      let onAddress = false;
      let text = '';
      for (let i = 0; i < tokens.length; i++) {
        const part = parts[i] as PartitionPart<R>;
        const value = tokens[i];
        if (value === undefined) return { part: partitionName(part), custom: typeof part !== 'string' };
        if (part === 'ip' || part === 'site' || (part === 'identity' && caller.identity.kind === 'ip+ua'))
          onAddress = true;
        // No part contains a comma, except ip+ua, whose own parts contain none: joining is unambiguous per limit.
        text += i === 0 ? value : `,${value}`;
      }
      if (text.length > MAX_LENGTH) text = `~${hash(text)}`;
      // Everything about one client address shares a slot, so that its limits are decided in one call on a Cluster.
      return { partition: text, tag: onAddress ? caller.address.site : text };
    },
  );
}

/** The safe token of one part; undefined where the request has none. */
function toToken<R>(
  part: PartitionPart<R>,
  ctx: RequestContext<R>,
  caller: Caller,
  hash: (value: string) => string,
  known: Known,
): MaybePromise<string | undefined> {
  switch (part) {
    case 'identity':
      return caller.identity.token;
    case 'ip':
      return caller.address.client;
    case 'site':
      return caller.address.site;
    case 'user':
      return caller.user;
    case 'apiKey':
      return caller.apiKey;
    case 'route':
      return token('r', ctx.route ?? '(none)', hash);
    case 'global':
      return 'global';
    default: {
      const tokens = (known.tokens ??= new Map());
      if (!tokens.has(part)) tokens.set(part, toCustomToken(part, ctx, caller, hash));
      return tokens.get(part);
    }
  }
}

function toCustomToken<R>(
  part: CustomPartition<R>,
  ctx: RequestContext<R>,
  { presented }: Caller,
  hash: (value: string) => string,
): MaybePromise<string | undefined> {
  const toValue = (value: unknown): string | undefined => {
    // An object is no id: as a string it would be "[object Object]", one counter for everybody.
    const id = typeof value === 'object' ? undefined : userId(value);
    if (id === undefined) return undefined;
    return (part.isPrivate === true || id === presented ? hashedToken : token)(part.name, id, hash);
  };
  try {
    const value = part.resolve(ctx.raw, ctx);
    return isPromise(value) ? Promise.resolve(value).then(toValue, () => undefined) : toValue(value);
  } catch {
    return undefined;
  }
}
