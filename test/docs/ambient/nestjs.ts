// What examples for NestJS may use without declaring it.
import type { Limiter } from '@tollgate/nestjs';

declare global {
  const limiter: Limiter;
}
