import { expect, it } from 'vitest';
import * as core from './index.ts';
import * as redis from './redis.ts';

it('exports exactly this', () => {
  expect(Object.keys(core).toSorted()).toEqual([
    'ConfigError',
    'NodeContext',
    'StoreError',
    'andThen',
    'auth',
    'byTier',
    'checkFunction',
    'checkOptions',
    'createClientIp',
    'createLimiter',
    'definePolicy',
    'deviceTokens',
    'expensive',
    'fastifyProxyTrust',
    'isPromise',
    'limiterOf',
    'memoryStore',
    'normalizeUsername',
    'partition',
    'read',
    'readPath',
    'routes',
    'username',
    'writeHeaders',
  ]);
  expect(Object.keys(redis)).toEqual(['redisStore']);
});
