import { type ExistingHeader, textOf } from './existing.ts';
import type { Reply } from './reply.ts';

/** The header fields of a response, as an adapter gets at them. */
export interface HeaderFields {
  readonly get: ExistingHeader;
  set(name: string, value: string): unknown;
  remove(name: string): unknown;
}

/** Writes the header fields of a reply; answers how to take them back, for a decision that is made again. */
export function writeHeaders({ headers, remove }: Pick<Reply, 'headers' | 'remove'>, fields: HeaderFields): () => void {
  const before = headers.map(([name]) => [name, fields.get(name)] as const);
  for (const name of remove) fields.remove(name);
  for (const [name, value] of headers) fields.set(name, value);
  return function takeBack() {
    for (const [name, value] of before) {
      if (value === undefined || value === null) fields.remove(name);
      else fields.set(name, textOf(value));
    }
  };
}
