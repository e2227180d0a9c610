import type { AlgorithmName, Rule } from '../algorithms/algorithm.ts';
import type { Resolver, ResponseFacts } from '../context.ts';
import type { Duration } from '../duration.ts';
import type { Partition, PartitionPart } from '../identity/partition.ts';
import type { DenialHandler, DenialOptions } from './denial.ts';
import type { RuleFrame } from './rules.ts';
import type { Tiers } from './tiers.ts';

/**
 * What answers when the store cannot: `local` the same limits in memory, at a share of each (default 0.25), `open`
 * every request passes, `closed` every request gets a 503.
 */
export type FailureMode = 'local' | 'open' | 'closed' | { readonly local: number };

/** What a reply tells: everything, only when to come back (logins), or nothing but the status. */
export type Disclosure = 'full' | 'retry-after' | 'none';

export interface LimitOptions<R = unknown> {
  /** Unique in its policy; 1 to 64 letters, digits, `_` and `-`. Default: made of `per` and the window, `ip-1m`. */
  readonly name?: string;
  /**
   * Who shares the counter. Default `identity`; an array is a tuple. A limit per `user` or `apiKey` does not count
   * requests that have none.
   */
  readonly per?: Partition<R> | readonly Partition<R>[];
  /** Default `sliding-window`. docs/algorithms.md tells what each is for. */
  readonly algorithm?: AlgorithmName;
  /**
   * Units per window, a whole number from 0; `limit × windowMs` below 2^53, of a sliding log at most 10 000. 0 denies
   * everything. `byTier({ … })`, or a function of the request: one that fails, or answers no such number, denies.
   */
  readonly limit: number | Tiers | Resolver<R, number>;
  /** 1 ms to 31 days. */
  readonly window: Duration;
  /**
   * Only for the buckets: units at once, a whole number from 1; `burst × windowMs` below 2^53. Default: of a token bucket
   * its limit; of a leaky bucket 1, or with `shape` as many as can have their turn within `maxDelay`.
   */
  readonly burst?: number;
  /** Only for the leaky bucket: lets admitted requests wait for their turn, up to `maxDelay` (0 ms to 1 minute). */
  readonly shape?: { readonly maxDelay: Duration };
  /** Exceeding the limit bars the partition for this long, 1 ms to 31 days; trying again does not make it longer. */
  readonly block?: Duration;
  /** Units of this limit that a request consumes; default: the policy's cost. */
  readonly cost?: number | Resolver<R, number>;
  /** Whether the limit counts this request; default: it does. An error in it counts the request. */
  readonly when?: Resolver<R, boolean>;
  /** Forgets this limit's counter (and no other's) when it says true of the response: a successful login. */
  readonly resetWhen?: ResponseTest<R>;
}

/** Asked when a request was answered in full; only `true` counts. */
export type ResponseTest<R> = (response: ResponseFacts, req: R) => boolean | PromiseLike<boolean>;

/** `message`, `status` and `handler` of a policy win over those of the limiter's `reply`. */
export interface PolicyOptions<R = unknown> extends DenialOptions<R> {
  /** In headers and keys: 1 to 64 printable ASCII characters. One name stands for one shape of limits per limiter. */
  readonly name: string;
  /** Decided together: all are charged, or none is. */
  readonly limits: readonly LimitOptions<R>[];
  /** Units that a request consumes, a whole number from 0; default 1. A resolver that fails costs the whole limit. */
  readonly cost?: number | Resolver<R, number>;
  /** Default `local`. */
  readonly onStoreFailure?: FailureMode;
  /** Default `full`. */
  readonly disclose?: Disclosure;
  /**
   * Gives a request's charges back when it says true of the response, so that only failures (or successes) count. They
   * are charged first: many at once cannot slip through. A response that the client did not wait for gives nothing back.
   */
  readonly refundWhen?: ResponseTest<R>;
  /** Default `enforce`; `shadow` decides and tells `onDecision`, on its own counters, and never denies. */
  readonly mode?: 'enforce' | 'shadow';
  /** Requests for which it answers true are not counted. An error in it counts the request. */
  readonly skip?: Resolver<R, boolean>;
  /**
   * How many client-controlled identities one client address may use to the full: each limit on such an identity has a
   * sibling on the address (IPv6: its /48) at `limit × backstop`. A whole number from 1; default 10.
   */
  readonly backstop?: number;
}

/** A limit's numbers and names, the same for every request. */
export interface QuotaRule extends Rule {
  /** `<policy>:<limit>:<algorithm><windowMs>`, escaped: what shapes the state is in the key, the limit's number is not. */
  readonly path: string;
  /** The name in headers and problem details. */
  readonly name: string;
  /** Whether headers may tell of it: `global` and backstop limits say too much about others. */
  readonly disclosed: boolean;
}

/** The rules of a limit of so many units. */
export interface LimitRules {
  readonly rule: QuotaRule;
  /** The same limit at the share of it that one instance grants while the store is out. */
  readonly localRule: QuotaRule;
  /** Of a backstop, what it is for clients without an address: all of them share it, so it is no wider than its limit. */
  readonly strict: { readonly rule: QuotaRule; readonly localRule: QuotaRule };
  /** Charged when the cost is unusable: all that one caller can have at once, of a backstop no more than of its limit. */
  readonly wholeCost: number;
}

/** The partitions of which a client may have as many as it likes: users that nobody verified, IPv6 networks in its site. */
export type Controlled = 'identity' | 'apiKey' | 'user' | 'ip';

/** A limit, prepared. Its own rules are those of its number, of its lowest tier, or of 0 where a function says. */
export interface Limit<R = unknown> extends LimitRules {
  readonly name: string;
  readonly per: readonly PartitionPart<R>[];
  readonly limit: number | Tiers | Resolver<R, number>;
  /** The highest number that it can have. */
  readonly most: number;
  readonly frame: RuleFrame;
  readonly rulesOf: (limit: number) => LimitRules;
  readonly cost: number | Resolver<R, number>;
  readonly when: Resolver<R, boolean> | undefined;
  readonly resetWhen: ResponseTest<R> | undefined;
  /** Whether the cost is the limit's and not the policy's: `settle` then leaves it alone. */
  readonly ownCost: boolean;
  /** For a backstop, what it bounds that a client can have more than one of. */
  readonly backstopOf: Controlled | undefined;
}

/** Any policy, whatever request its functions are asked about. Where it stands, a preset's request is its framework's. */
export type AnyPolicy = Pick<Policy<never>, 'name' | 'shape' | 'mode'>;

/** A named set of limits, checked and prepared. Made by `definePolicy` or a preset. */
export interface Policy<R = unknown> {
  readonly name: string;
  readonly limits: readonly Limit<R>[];
  readonly onStoreFailure: 'local' | 'open' | 'closed';
  readonly disclose: Disclosure;
  readonly skip: Resolver<R, boolean> | undefined;
  readonly refundWhen: ResponseTest<R> | undefined;
  readonly mode: 'enforce' | 'shadow';
  readonly message: string | undefined;
  readonly status: number | undefined;
  readonly handler: DenialHandler<R> | undefined;
  /** Whether it matters who the user is. */
  readonly countsUsers: boolean;
  /** Whether functions of the application tell a limit's partition, number, cost or condition: they may want the parsed body. */
  readonly asksRequest: boolean;
  /** It with the limits that can be looked at as soon as a request comes in, whoever turns out to be its user. */
  readonly early: Policy<R> | undefined;
  /** Everything that shapes its counters and answers as text: two policies of one name must agree on it. */
  readonly shape: string;
}
