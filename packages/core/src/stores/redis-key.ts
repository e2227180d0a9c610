import type { Charge } from '../policy/charge.ts';

/**
 * Spells a counter's key, here and nowhere else: `<prefix>tg1:{<tag>}:<policy>:<limit>:<algorithm><windowMs>:<partition>`.
 * `tg1` is the version of the encoding. Nothing before the tag holds a brace, so nobody chooses another slot.
 */
export function redisKey(prefix: string, { rule, partition, tag }: Charge): string {
  return `${prefix}tg1:{${tag}}:${rule.path}:${partition}`;
}
