import type { Algorithm, AlgorithmName } from './algorithm.ts';
import { fixedWindow } from './fixed-window.ts';
import { leakyBucket } from './leaky-bucket.ts';
import { slidingLog } from './sliding-log.ts';
import { slidingWindow } from './sliding-window.ts';
import { tokenBucket } from './token-bucket.ts';

/** Every algorithm by its name. Their Lua twins are listed in algorithms.lua under their codes. */
export const ALGORITHMS: Readonly<Record<AlgorithmName, Algorithm>> = {
  'sliding-window': slidingWindow,
  'token-bucket': tokenBucket,
  'leaky-bucket': leakyBucket,
  'fixed-window': fixedWindow,
  'sliding-log': slidingLog,
};

export const ALGORITHM_NAMES: readonly AlgorithmName[] = Object.keys(ALGORITHMS) as AlgorithmName[];
