export { createClock, type TestClock } from './clock.ts';
export { freshPrefix } from './prefix.ts';
export { startRedis, type TestRedis } from './redis-server.ts';
export { toCharge } from './charge.ts';
export { describeStore, type StoreUnderTest } from './describe-store.ts';
export { type AdapterUnderTest, type AppSpec, describeAdapter } from './describe-adapter.ts';
export { overHttp, type RunningApp } from './http-app.ts';
