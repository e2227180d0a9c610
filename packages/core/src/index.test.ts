import { expect, it } from 'vitest';
import * as core from './index.ts';
import * as redis from './redis.ts';

it('exports exactly this', () => {
  expect(Object.keys(core).toSorted()).toEqual([
    'ConfigError',
    'StoreError',
    'andThen',
    'checkOptions',
    'createClientIp',
    'createLimiter',
    'definePolicy',
    'isPromise',
    'limiterOf',
    'memoryStore',
    'normalizeUsername',
    'onClose',
    'partition',
    'read',
    'readHeader',
    'readPath',
    'toReply',
    'username',
  ]);
  expect(Object.keys(redis)).toEqual(['redisStore']);
});
