export { readPath, type RequestContext, type Resolver, type ResponseFacts } from './context.ts';
export { fastifyProxyTrust, NodeContext, type NodeRequest, type NodeResponse } from './node-context.ts';
export { checkFunction, checkOptions } from './options.ts';
export type { Duration } from './duration.ts';
export { ConfigError, type ConfigErrorCode, StoreError, type StoreErrorCode } from './errors.ts';
export { type ClientIpOptions, createClientIp, type TrustProxy } from './identity/trusted-proxy.ts';
export { normalizeUsername, username, type UsernameOptions } from './identity/username.ts';
export { type DeviceTokens, type DeviceTokensOptions, deviceTokens } from './identity/device-token.ts';
export type { Identified, IdentifiedUser, Identity } from './identity/identity.ts';
export { type CustomPartition, type Partition, partition } from './identity/partition.ts';
export type { AlgorithmName, Answer, DenialReason, Rule } from './algorithms/algorithm.ts';
export type {
  AnyPolicy,
  Disclosure,
  FailureMode,
  Limit,
  LimitOptions,
  Policy,
  PolicyOptions,
  QuotaRule,
} from './policy/policy.ts';
export type { Denial, DenialAnswer, DenialHandler, DenialOptions } from './policy/denial.ts';
export { definePolicy } from './policy/define-policy.ts';
export { expensive, type ExpensiveOptions, read, type ReadOptions } from './policy/presets.ts';
export { auth, type AuthOptions } from './policy/auth.ts';
export { type RouteEntries, routes, type RouteTable } from './policy/routes.ts';
export type { PolicyMakers } from './policy/makers.ts';
export { byTier, type Tiers } from './policy/tiers.ts';
export type { Chooser, PolicySpec } from './policy/choose.ts';
export type { Charge } from './policy/charge.ts';
export type { Deadline } from './stores/deadline.ts';
export type { Adjustment, Store, Taken, TakeRequest } from './stores/store.ts';
export { memoryStore, type MemoryStore, type MemoryStoreOptions } from './stores/memory-store.ts';
export type { Decision, DecisionSource, Outcome, Verdict } from './decision.ts';
export type { DenialBody, DenialProblem } from './reply/body.ts';
export type { ExistingHeader } from './reply/existing.ts';
export type { HeaderFamily, ReplyOptions } from './reply/reply-options.ts';
export type { Reply } from './reply/reply.ts';
export { type HeaderFields, writeHeaders } from './reply/write-headers.ts';
export type { Warning, WarningCode } from './warnings.ts';
export type { Listeners } from './telemetry/telemetry.ts';
export type { DegradedEvent } from './resilience/store-observer.ts';
export type { LimiterOptions } from './limiter-options.ts';
export { createLimiter, type Limiter } from './limiter.ts';
export { type AdapterOptions, limiterOf } from './shared-limiter.ts';
export { andThen, isPromise, type MaybePromise } from './maybe.ts';
