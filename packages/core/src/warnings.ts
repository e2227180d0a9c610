/** What an operator should know. Each code is a heading of docs/errors.md. */
export type WarningCode =
  | 'memory-store-in-production'
  | 'memory-store-full'
  | 'store-degraded'
  | 'store-recovered'
  | 'store-connection'
  | 'partition-unresolved'
  | 'cost-unusable'
  | 'client-address-unknown'
  | 'resolver-failed';

export interface Warning {
  readonly code: WarningCode;
  readonly message: string;
}

/** Shared by all copies of the package in a process (ESM and CommonJS), so that each warning appears once. */
const SAID = Symbol.for('tollgate.warnings');

/** Prints a warning the first time that its code comes up in this process. */
export function warnOnce(code: WarningCode, sentence: string): void {
  const host = globalThis as { [SAID]?: Set<string> };
  const said = (host[SAID] ??= new Set());
  if (said.has(code)) return;
  said.add(code);
  // oxlint-disable-next-line no-console -- where nobody listens, an operator still has to hear of it
  console.warn(toText({ code, message: sentence }));
}

export function toText({ code, message }: Warning): string {
  return `[tollgate] ${message} (docs/errors.md#${code})`;
}
