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

/** Redis 5 and 6 wrap what fails inside of a script: `ERR Error running script (call to f_…): @user_script:49: -READONLY …`. */
const IN_SCRIPT = /@user_script:\s?\d+: -?([A-Z]+) /;
/** The arguments are keys, with clients' addresses in them. */
const ARGUMENTS = /,? with args beginning with:.*$/s;
/** A client's own deadline, of a command or of its connection: the server still has the command. */
const CLIENT_TIMEOUT = /^(Command timed out|Socket timeout)/;

/** What went wrong, for who has to answer in the store's place. Connections that fail have no word: they are unavailable. */
export function toStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const { name, message } = error instanceof Error ? error : { name: '', message: String(error) };
  const text = message.replace(ARGUMENTS, '').replace(/\.*$/, '.');
  return new StoreError(codeOf(name, message), `Redis: ${text}`, { cause: withoutCommand(error) });
}

function codeOf(name: string, message: string): StoreErrorCode {
  if (NO_SCRIPTS.test(message)) return 'misconfigured';
  const code = CODES[(IN_SCRIPT.exec(message) ?? /^([A-Z]+)/.exec(message))?.[1] ?? ''];
  if (code !== undefined) return code;
  if (name === 'ReplyError') return 'failed';
  return CLIENT_TIMEOUT.test(message) ? 'deadline' : 'lost';
}

/** ioredis adds the command to its errors, and with it the arguments: a password, addresses. */
function withoutCommand(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const bare = new Error(error.message.replace(ARGUMENTS, ''));
  bare.name = error.name;
  if (error.stack !== undefined) bare.stack = error.stack.replace(ARGUMENTS, '');
  return bare;
}
