import { randomUUID } from 'node:crypto';

/** A key prefix that no other test uses. */
export function freshPrefix(): string {
  return `t${randomUUID().slice(0, 8)}`;
}
