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
  const written = headers.map(([name, value]) => ({ name, value, before: textOf(fields.get(name)) }));
  for (const name of remove) fields.remove(name);
  for (const [name, value] of headers) fields.set(name, value);
  return function takeBack() {
    for (const { name, value, before } of written) {
      const left = without(textOf(fields.get(name)), value, before);
      if (left === '') fields.remove(name);
      else fields.set(name, left);
    }
  };
}

/** What is left of a field: as it was before, or, where others have added to it since, without what was added then. */
function without(now: string, value: string, before: string): string {
  if (now === value) return before;
  const added = before !== '' && value.startsWith(`${before}, `) ? value.slice(before.length + 2) : value;
  if (now.startsWith(`${added}, `)) return now.slice(added.length + 2);
  if (now.endsWith(`, ${added}`)) return now.slice(0, -added.length - 2);
  return now.replace(`, ${added}, `, ', ');
}
