import type { AdapterOptions, PolicySpec } from '@tollgate/core';
import type { HttpRequest } from './context.ts';

export interface RateLimitModuleOptions extends AdapterOptions {
  /** For every route that names none, and for requests that no route takes. Default: only what is decorated is limited. */
  readonly policy?: PolicySpec<HttpRequest>;
}
