// What examples of no framework may use without declaring it.
import type { Limiter, RequestContext } from '@tollgate/core';

declare global {
  const limiter: Limiter;
  const ctx: RequestContext;
  /** What the application is about to answer. */
  const response: Response;
}
