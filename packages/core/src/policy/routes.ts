import type { RequestContext } from '../context.ts';
import { memoize } from '../identity/memoize.ts';
import { invalid, isRecord } from '../options.ts';
import { type Chooser, isPolicy } from './choose.ts';
import { checkShaping } from './define-policy.ts';
import type { Policy } from './policy.ts';
import { optionOf, parseRouteKey, type RouteKey } from './route-key.ts';
import {
  allReadings,
  covers,
  foldCase,
  foldPath,
  isClean,
  overlap,
  REST,
  routerReadings,
  type Segment,
  toPattern,
  toSegments,
} from './route-path.ts';
import { createRouteTree } from './route-tree.ts';

/** By `'*'`, `'/path'`, `'METHOD /path'` or `'GET|POST /path'`: a policy, several decided together, or false: not counted. */
export type RouteEntries<R = unknown> = Readonly<Record<string, Policy<R> | readonly Policy<R>[] | false>>;

/** A chooser of policies that knows all of them. */
export interface RouteTable<R = unknown> extends Chooser<R> {
  (ctx: RequestContext<R>): readonly Policy<R>[];
  readonly policies: readonly Policy<R>[];
}

interface Entry<R> extends RouteKey {
  readonly key: string;
  /** Without any, what it names is not counted. */
  readonly policies: readonly Policy<R>[];
}

/** The patterns of an application are few, and are read once. */
const MAX_PATTERNS = 1000;

/**
 * Chooses policies by method and path, in one place for all routes. Paths are whole paths, mount points included; a segment
 * may be a `:parameter`, the last one a `*`, which is the rest and also nothing. The most specific entry counts,
 * whatever the order: from the left, text before `:parameter` before `*`; then one with the method before one
 * without. HEAD is GET. What no entry names is not counted.
 *
 * However a URL is spelt, the limits for what it may reach count. `false` counts for the exact spelling only, unless the
 * framework has matched that route. docs/routes.md tells how paths are read.
 * @example
 * rateLimit(routes({
 *   'POST /login': auth({ username: (req) => req.body?.email }),
 *   '/users/:id': [read(), expensive()],
 *   '/health': false,
 *   '*': read(),
 * }))
 * @throws ConfigError when the table is empty, a key is none of these forms or names what another one names, or an entry is
 * neither a policy, a non-empty array of policies, nor false
 */
export function routes<R = unknown>(table: RouteEntries<R>): RouteTable<R> {
  const entries = toEntries(table);
  const tree = createRouteTree<Entry<R>>();
  for (const entry of entries) {
    const other = tree.add(entry.methods, entry.pattern, entry);
    if (other !== undefined) invalid(optionOf(entry.key), `about another route than '${other.key}'`, entry.key);
  }
  const readPattern = memoize(toPattern, MAX_PATTERNS);
  const contested = new Set(entries.filter((entry) => entries.some((other) => contests(other, entry))));

  const choose = (ctx: RequestContext<R>): readonly Policy<R>[] => {
    const method = ctx.method === 'HEAD' ? 'GET' : ctx.method;
    return policiesOf(decide(method, ctx));
  };
  return Object.freeze(Object.assign(choose, { policies: policiesOf(entries) }));

  /** What counts, by the pattern that the framework matched as far as it says, and else by the path. */
  function decide(method: string, { path, route, mount = '' }: RequestContext<R>): readonly Entry<R>[] {
    const pattern = route === undefined ? undefined : [...toMount(mount), ...readPattern(route)];
    const matched = pattern && tree.find(method, pattern);
    if (pattern === undefined || matched === undefined || isFallback(matched)) return byPath(method, path);
    // Express keeps the pattern of a route that passed the request on, also outside of the router that it was in.
    if (!routerReadings(path).some((reading) => covers(pattern, reading))) return [matched, ...byPath(method, path)];
    // A router that hands on whatever is below a path has not looked at it: `/static/%2e%2e/login` may be a login further on.
    if (!isLimit(matched) && pattern.at(-1) === REST && !isClean(path)) return byPath(method, path);
    if (!contested.has(matched)) return [matched];
    if (mount === '' && pattern.every((segment) => typeof segment === 'string')) return [matched];
    // The table says something else of some of the pattern's paths (`/users/me` of `/users/:id`), and a mount point is a path.
    return [matched, ...byPath(method, path).filter((entry) => contests(entry, matched))];
  }

  /** All that a path may mean, since the framework may read it in more than one way. */
  function byPath(method: string, path: string): readonly Entry<R>[] {
    if (isClean(path)) {
      const found = tree.find(method, foldPath(path), (entry) => isLimit(entry) || entry.isExact(path));
      return found === undefined ? [] : [found];
    }
    const all = allReadings(path).map((reading) => tree.find(method, reading, isLimit));
    return all.filter((entry) => entry !== undefined);
  }
}

function toEntries<R>(table: RouteEntries<R>): readonly Entry<R>[] {
  if (!isRecord(table)) invalid('routes', 'an object', table);
  const entries = Object.entries(table);
  if (entries.length === 0) invalid('routes', 'an object with at least one entry', table);
  return entries.map(([key, value]) => toEntry(key, value));
}

function toEntry<R>(key: string, value: RouteEntries<R>[string]): Entry<R> {
  return { ...parseRouteKey(key), key, policies: toPolicies(key, value) };
}

function toPolicies<R>(key: string, value: RouteEntries<R>[string]): readonly Policy<R>[] {
  if (value === false) return [];
  // A copy, and with spread, because every would jump over a hole.
  const policies: readonly unknown[] = Array.isArray(value) ? [...(value as unknown[])] : [value];
  if (policies.length === 0 || !policies.every(isPolicy)) {
    invalid(optionOf(key), 'a policy made by definePolicy() or a preset, a non-empty array of these, or false', value);
  }
  checkShaping((policies as Policy<R>[]).flatMap(({ limits }) => limits));
  return policies as Policy<R>[];
}

/** Of one entry its own list: nothing is made on the request path for what nearly all requests are. */
function policiesOf<R>(entries: readonly Entry<R>[]): readonly Policy<R>[] {
  const [first, second] = entries;
  if (first !== undefined && second === undefined) return first.policies;
  return [...new Set(entries.flatMap(({ policies }) => policies))];
}

/** A mount point as the client spelt it: text that the framework has matched, and not decoded. */
function toMount(mount: string): readonly Segment[] {
  return mount === '' ? [] : toSegments(foldCase(mount));
}

function isLimit({ policies }: Entry<never>): boolean {
  return policies.length > 0;
}

/** Whether it is for some of the paths of another entry, without being for all of them. */
function contests(entry: Entry<never>, other: Entry<never>): boolean {
  return entry !== other && overlap(entry.pattern, other.pattern) && !covers(entry.pattern, other.pattern);
}

function isFallback({ pattern }: Entry<never>): boolean {
  return pattern[0] === REST;
}
