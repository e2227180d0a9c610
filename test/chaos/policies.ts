import { definePolicy, type Policy, type RequestContext } from '@tollgate/core';

export type Mode = 'local' | 'open' | 'closed';

export const MODES: readonly Mode[] = ['local', 'open', 'closed'];

/** A window that does not end meanwhile, so that what was counted can be read from what remains. */
const LONG = '31d';

/** One policy of each failure mode, of three algorithms, with limits that nobody reaches. */
export const POLICIES: Readonly<Record<Mode, Policy>> = {
  local: definePolicy({ name: 'local', limits: [{ limit: 1_000_000, window: LONG, per: 'ip' }] }),
  open: definePolicy({
    name: 'open',
    limits: [{ algorithm: 'fixed-window', limit: 1_000_000, window: LONG, per: 'ip' }],
    onStoreFailure: 'open',
  }),
  closed: definePolicy({
    name: 'closed',
    limits: [{ algorithm: 'sliding-log', limit: 10_000, window: LONG, per: 'ip' }],
    onStoreFailure: 'closed',
  }),
};

/** One whose local share, a quarter, is soon used up. */
export const NARROW: Policy = definePolicy({ name: 'narrow', limits: [{ limit: 20, window: LONG, per: 'ip' }] });
export const NARROW_SHARE = 5;

/** The callers of a load. */
export const IPS: readonly string[] = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'];

export function requestOf(ip: string): RequestContext {
  return { method: 'GET', path: '/', route: undefined, ip, user: undefined, raw: {}, header: () => undefined };
}
