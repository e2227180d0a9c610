export { redisStore, type RedisStoreOptions } from './stores/redis-store.ts';
export type { IoredisClient } from './stores/redis-client.ts';
