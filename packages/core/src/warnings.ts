/** What an operator should know. Each code is a heading of docs/errors.md. */
export type WarningCode =
  | 'memory-store-in-production'
  | 'memory-store-full'
  | 'store-degraded'
  | 'store-misconfigured'
  | 'store-failed'
  | 'store-recovered'
  | 'store-connection'
  | 'store-evicts'
  | 'client-settings'
  | 'policy-name-conflict'
  | 'partition-unresolved'
  | 'cost-unusable'
  | 'limit-unusable'
  | 'tier-unknown'
  | 'client-address-unknown'
  | 'client-address-private'
  | 'forwarding-header-ignored'
  | 'trust-everything'
  | 'hop-count-ignored'
  | 'one-partition'
  | 'user-after-decision'
  | 'guard-order'
  | 'identity-unusable'
  | 'memory-store-with-replicas'
  | 'limiter-per-request'
  | 'response-unknown'
  | 'answer-unusable'
  | 'resolver-failed';

export interface Warning {
  readonly code: WarningCode;
  readonly message: string;
  /** What the application's own function failed with. Never printed: it may quote what a client sent. */
  readonly cause?: unknown;
}

/** Shared by all copies of the package in a process (ESM and CommonJS), so that each warning appears once. */
const SAID = Symbol.for('tollgate.warnings');

/** Prints a warning the first time that its code comes up in this process. */
export function warnOnce(code: WarningCode, sentence: string): void {
  const host = globalThis as { [SAID]?: Set<string> };
  const said = (host[SAID] ??= new Set());
  if (said.has(code)) return;
  said.add(code);
  print({ code, message: sentence });
}

export function print({ code, message }: Warning): void {
  // oxlint-disable-next-line no-console -- where nobody listens, an operator still has to hear of it
  console.warn(`[tollgate] ${message} (docs/errors.md#${code})`);
}

/** Is told of a warning. */
export type WarningListener = (code: WarningCode, sentence: string, cause?: unknown) => void;

/** What a store has to say goes to the limiters that use it, or is printed while there is none. It says each thing once. */
export interface Warner {
  readonly warn: WarningListener;
  readonly listen: (listener: WarningListener) => void;
}

export function createWarner(): Warner {
  const listeners: WarningListener[] = [];
  return {
    warn(code, sentence) {
      if (listeners.length === 0) print({ code, message: sentence });
      for (const listener of listeners) listener(code, sentence);
    },
    listen: (listener) => void listeners.push(listener),
  };
}
