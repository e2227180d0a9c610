import type { RequestContext } from '../context.ts';
import type { WarningListener } from '../warnings.ts';
import { toClientAddress, UNKNOWN_ADDRESS } from './client-ip.ts';
import { parseForwarded } from './forwarded.ts';
import { type Caller, isNamed } from './identity.ts';

/** Looks at requests for signs of a deployment that makes the limiter wrong. */
export type Examine = (ctx: RequestContext, caller: Caller, countsUsers: boolean) => void;

/** The first requests are all looked at, so that a mistake shows in the first minute, then a sample of them. */
const ALL_OF_THE_FIRST = 1000;
const THEN_ONE_IN = 64;
/** How many requests have to be seen before one partition can be said to carry nearly all of them. */
const CROWD = 1000;
const NEARLY_ALL = 0.95;

const FORWARDING = ['x-forwarded-for', 'forwarded', 'x-real-ip'];

/** @param warn told of each sign; it counts them, and says each kind once */
export function createDiagnostics(warn: WarningListener, isProduction: boolean): Examine {
  let seen = 0;
  let sampled = 0;
  // The majority candidate of Boyer and Moore: one name and one number, however many clients there are.
  let candidate = '';
  let lead = 0;
  let ofCandidate = 0;

  /** Requests that were decided without a user, and not again with one. */
  const unnamed = new WeakSet<RequestContext>();

  return function examine(ctx, caller, countsUsers) {
    if (caller.identity.kind === 'user') unnamed.delete(ctx);
    seen++;
    if (seen > ALL_OF_THE_FIRST && seen % THEN_ONE_IN !== 0) return;
    const { address } = caller;
    const forwarding = FORWARDING.find((name) => tellsMore(name, ctx.header(name), address));
    if (address === UNKNOWN_ADDRESS) {
      warn(
        'client-address-unknown',
        'A client address is missing or no IP address; all such clients share one counter.',
      );
    } else if (address.isPrivate && (isProduction || forwarding !== undefined) && !isIgnored(ctx, caller, forwarding)) {
      warn(
        'client-address-private',
        `A client address is private (${address.client}): a proxy may stand where the client should be.`,
      );
    }
    if (isIgnored(ctx, caller, forwarding)) {
      warn(
        'forwarding-header-ignored',
        `Requests carry ${forwarding} from a peer that is not trusted (${address.client}). If that is your proxy, everybody behind it ` +
          'shares one budget: set the trust setting to its address.',
      );
    }
    if (ctx.proxyTrust === 'everything') {
      warn(
        'trust-everything',
        'The trust setting trusts every peer, so each client chooses its own address: name your proxies.',
      );
    } else if (ctx.proxyTrust === 'ignored-hops') {
      warn(
        'hop-count-ignored',
        'trustProxy is a number, which this Fastify takes as trusting nobody: name the addresses of your proxies.',
      );
    }
    if (countsUsers && caller.identity.kind !== 'user') watchForUser(ctx);
    countCrowd(address.client, isProduction || forwarding !== undefined);
  };

  /** Mounted above authentication, the limiter never sees a user. */
  function watchForUser(ctx: RequestContext): void {
    // A login has its user afterwards as well, and rightly so: it is no GET, and brings no credentials in a header.
    if (ctx.method !== 'GET' && ctx.header('authorization') === undefined) return;
    unnamed.add(ctx);
    ctx.onFinish?.(() => {
      if (!unnamed.has(ctx) || !isNamed(ctx)) return;
      warn(
        'user-after-decision',
        'A request had a user only after the limiter decided: mount the limiter behind authentication.',
      );
    });
  }

  function countCrowd(client: string, matters: boolean): void {
    sampled++;
    if (client === candidate) {
      lead++;
      ofCandidate++;
    } else if (lead === 0) {
      [candidate, lead, ofCandidate] = [client, 1, 1];
    } else {
      lead--;
    }
    if (sampled < CROWD) return;
    if (matters && ofCandidate / sampled >= NEARLY_ALL) {
      warn(
        'one-partition',
        `Nearly all requests come from one client (${candidate}). Unless this is a load test, it is a proxy.`,
      );
    }
    sampled = 0;
    candidate = '';
    lead = 0;
    ofCandidate = 0;
  }
}

/** Whether there is a header, and somebody else than the client in it: not so behind a proxy of the developer's own machine. */
function tellsMore(name: string, value: string | undefined, { client }: Caller['address']): boolean {
  if (value === undefined) return false;
  const hops = name === 'forwarded' ? parseForwarded(value) : [value];
  return hops?.length !== 1 || toClientAddress(hops[0] as string).client !== client;
}

/** The header was there, and the framework's answer is the peer all the same. */
function isIgnored(ctx: RequestContext, { address }: Caller, forwarding: string | undefined): boolean {
  if (forwarding === undefined || forwarding === 'x-real-ip' || ctx.peer === undefined) return false;
  return toClientAddress(ctx.peer).client === address.client;
}
