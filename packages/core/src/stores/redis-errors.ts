import { StoreError, type StoreErrorCode } from '../errors.ts';

/**
 * What Redis's own errors mean for a limiter, by the word that they begin with. Everything else that Redis answers is about
 * the command that was sent, and says nothing about the next one.
 */
const CODES: Readonly<Record<string, StoreErrorCode>> = {
  // It may be over with the next command, a failover or a restart.
  LOADING: 'refused',
  BUSY: 'refused',
  READONLY: 'refused',
  MASTERDOWN: 'refused',
  CLUSTERDOWN: 'refused',
  TRYAGAIN: 'refused',
  NOREPLICAS: 'refused',
  MISCONF: 'refused',
  OOM: 'refused',
  UNKILLABLE: 'refused',
  // It will not be over before somebody changes something.
  NOAUTH: 'misconfigured',
  WRONGPASS: 'misconfigured',
  NOPERM: 'misconfigured',
  CROSSSLOT: 'misconfigured',
};

/** An ACL without the right to run scripts is told of without a word of its own. */
const NO_SCRIPTS = /^ERR (The user executing the script can't run|unknown command|AUTH <password> called without)/i;

/** What went wrong, for who has to answer in the store's place. Connections that fail have no word: they are unavailable. */
export function toStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const { name, message } = error instanceof Error ? error : { name: '', message: String(error) };
  const code = NO_SCRIPTS.test(message) ? 'misconfigured' : CODES[/^[A-Z]+/.exec(message)?.[0] ?? ''];
  return new StoreError(code ?? (name === 'ReplyError' ? 'failed' : 'unavailable'), `Redis: ${message}`, {
    cause: error,
  });
}
