import type { Algorithm, AlgorithmName } from './algorithm.ts';
import { slidingWindow } from './sliding-window.ts';

/** Every algorithm by its name. Their Lua twins are listed in stores/take.lua under their codes. */
export const ALGORITHMS: Readonly<Record<AlgorithmName, Algorithm>> = {
  'sliding-window': slidingWindow,
};

export const ALGORITHM_NAMES: readonly AlgorithmName[] = Object.keys(ALGORITHMS) as AlgorithmName[];
