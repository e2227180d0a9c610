import type { RequestContext } from '../context.ts';

/** A request of a client that sends nothing but an address; another one each time, since a policy is charged once per request. */
export function requestOf(facts: Partial<RequestContext> = {}): RequestContext {
  return {
    method: 'GET',
    path: '/',
    route: undefined,
    ip: '203.0.113.7',
    user: undefined,
    header: () => undefined,
    raw: {},
    ...facts,
  };
}
