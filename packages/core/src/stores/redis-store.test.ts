import { afterAll, beforeAll } from 'vitest';
import { describeStore, freshPrefix, startRedis, type TestRedis } from '../testing/index.ts';
import { redisStore } from './redis-store.ts';

let redis: TestRedis;
beforeAll(async () => void (redis = await startRedis()));
afterAll(() => redis.stop());

describeStore({ name: 'redis', create: (now) => redisStore(redis.url, { prefix: freshPrefix(), now }) });
