export { createClock, type TestClock } from './clock.ts';
export { type Monitor, monitorRedis } from './monitor.ts';
export { freshPrefix } from './prefix.ts';
export { requestOf } from './request.ts';
export { startRedis, type TestRedis } from './redis-server.ts';
export { toCharge } from './charge.ts';
export { describeStore, type StoreUnderTest } from './describe-store.ts';
export type { AdapterUnderTest, AppSpec, Composition } from './app-spec.ts';
export { describeAdapter } from './describe-adapter.ts';
export { describeIdentity, type IdentityAppSpec, type IdentityUnderTest } from './describe-identity.ts';
export { describeLogin, type LoginAppSpec, type LoginUnderTest } from './describe-login.ts';
export { describeRoutes, type RoutesAppSpec, type RoutesUnderTest } from './describe-routes.ts';
export { overHttp, type RunningApp } from './http-app.ts';
export { describeOptions, describeValues, type OptionsUnderTest } from './describe-options.ts';
export {
  all,
  duration,
  FLAG,
  FUNCTION,
  integer,
  NO_OBJECTS,
  Odd,
  oneOf,
  printable,
  text,
  type Values,
  word,
} from './option-values.ts';
export { limiterValues, policyValues } from './spec-values.ts';
