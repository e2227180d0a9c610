import type { RequestContext, Resolver } from '../context.ts';
import { type CustomPartition, partition } from '../identity/partition.ts';
import { andThen, isPromise, type MaybePromise } from '../maybe.ts';
import { show } from '../options.ts';

/** Tells of each request whether a stranger makes it, or the owner of the name from a device that is known by it. */
export interface Devices<R> {
  /** The account as it was given, asked once per request. */
  readonly account: CustomPartition<R>;
  /** The device, where it is known; for strangers it has no value. */
  readonly device: CustomPartition<R>;
  readonly isStranger: Resolver<R, boolean>;
  readonly isKnown: Resolver<R, boolean>;
}

type Found =
  | { readonly kind: 'device'; readonly id: string }
  | { readonly kind: 'stranger' }
  | { readonly kind: 'failed'; readonly error: unknown };

const STRANGER: Found = { kind: 'stranger' };

export function createDevices<R>(
  account: CustomPartition<R>,
  trustedDevice: Resolver<R, string | undefined>,
): Devices<R> {
  const nameOf = oncePerRequest(account.resolve);
  const find = oncePerRequest((req: R, ctx: RequestContext<R>) =>
    andThen(
      attempt(() => nameOf(req, ctx)),
      // Nobody owns a missing name: whoever sends none must not shake off the limits by address with a cookie.
      (name) =>
        isText(name.answer)
          ? andThen(
              attempt(() => trustedDevice(req, ctx)),
              toFound,
            )
          : STRANGER,
    ),
  );
  const isStranger: Resolver<R, boolean> = (req, ctx) =>
    andThen(find(req, ctx), (found) => {
      // Told as every resolver's failure is; a limit whose `when` fails counts.
      if (found.kind === 'failed') throw found.error;
      return found.kind === 'stranger';
    });
  const idOf: Resolver<R, string | undefined> = (req, ctx) =>
    andThen(find(req, ctx), (found) => (found.kind === 'device' ? found.id : undefined));

  return {
    account: { ...account, resolve: nameOf },
    // An id that somebody reads out of Redis must not be half of a cookie.
    device: { ...partition<R>('device', idOf), isPrivate: true },
    isStranger: Object.assign(isStranger, { asks: 'trustedDevice' }),
    isKnown: (req, ctx) => andThen(idOf(req, ctx), (id) => id !== undefined),
  };
}

/** What a function of the application came to: it may answer anything, now or later, and it may fail. */
type Attempt =
  | { readonly answer: unknown; readonly error?: never }
  | { readonly answer?: never; readonly error: unknown };

const succeeded = (answer: unknown): Attempt => ({ answer });
const failed = (error: unknown): Attempt => ({ error });

function attempt(ask: () => unknown): MaybePromise<Attempt> {
  try {
    const answer = ask();
    return isPromise(answer) ? Promise.resolve(answer).then(succeeded, failed) : succeeded(answer);
  } catch (error) {
    return failed(error);
  }
}

function toFound(attempted: Attempt): Found {
  if ('error' in attempted) return { kind: 'failed', error: attempted.error };
  const { answer } = attempted;
  if (answer === undefined || answer === null || answer === '') return STRANGER;
  if (isText(answer)) return { kind: 'device', id: answer };
  // `true` for a cookie that is merely there would be one counter for everybody, outside of all others.
  const sentence = `trustedDevice must answer a string or undefined; it answered ${show(answer)}.`;
  return { kind: 'failed', error: new TypeError(sentence) };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** By the context, which is made anew for each request. */
function oncePerRequest<R, T>(resolve: (req: R, ctx: RequestContext<R>) => T): (req: R, ctx: RequestContext<R>) => T {
  const answers = new WeakMap<RequestContext<R>, { readonly answer: T }>();
  return function once(req, ctx) {
    let known = answers.get(ctx);
    if (known === undefined) answers.set(ctx, (known = { answer: resolve(req, ctx) }));
    return known.answer;
  };
}
