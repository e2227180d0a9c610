/** What can be wrong with a configuration. Each code is a heading of docs/errors.md. */
export type ConfigErrorCode = 'invalid-option' | 'unknown-option' | 'policy-name-conflict';

/** A limiter, policy or store was configured wrongly. Thrown when it is made, never while a request is served. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  /** Recognise the error by this flag: two copies of the package (ESM and CommonJS) have two classes. */
  readonly isTollgateConfigError = true;
  readonly code: ConfigErrorCode;
  /** The option at fault, as a path: `limits[0].window`. */
  readonly option: string;
  /** The message without the page that it refers to. */
  readonly sentence: string;

  constructor(code: ConfigErrorCode, option: string, sentence: string) {
    super(`${sentence} (docs/errors.md#${code})`);
    this.code = code;
    this.option = option;
    this.sentence = sentence;
  }
}

/**
 * Why a store did not decide: `deadline` it did not answer in time, `unavailable` it cannot be reached, or was not asked
 * because it did not decide just now, `lost` the connection broke before it answered, `refused` it answered that it cannot now (loading, read-only, out of memory),
 * `misconfigured` it will not before somebody mends it (a password, a right), `failed` it could not decide this one.
 */
export type StoreErrorCode = 'deadline' | 'unavailable' | 'lost' | 'refused' | 'misconfigured' | 'failed';

/** A store could not decide. The policy's `onStoreFailure` answers in its place. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, sentence: string, options?: { cause?: unknown }) {
    super(sentence, options);
    this.code = code;
  }
}
