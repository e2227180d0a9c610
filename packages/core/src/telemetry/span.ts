import { type Attributes, trace } from '@opentelemetry/api';
import type { Verdict } from '../decision.ts';

/**
 * Tells a decision to the span that the request is traced with, if there is one; the last decision of a request stays.
 * @param hash what is known of a caller leaves the process only hashed: a backend of traces is read by many
 */
export function markSpan(verdict: Verdict, hash: (value: string) => string): void {
  const span = trace.getActiveSpan();
  if (span?.isRecording() === true) span.setAttributes(toAttributes(verdict, hash));
}

function toAttributes(verdict: Verdict, hash: (value: string) => string): Attributes {
  const { policies, allowed, source, binding, identity } = verdict;
  return {
    'ratelimit.policy': policies.map(({ name }) => name).join(','),
    // With a word before it, so that it is none of the hashes in Redis.
    'ratelimit.key': hash(`span ${binding?.partition ?? identity.token}`),
    'ratelimit.allowed': allowed,
    'ratelimit.source': source,
    ...(binding !== undefined && { 'ratelimit.limit': binding.name }),
    // What is left of a local share is not what is left of the limit.
    ...(binding !== undefined && source === 'store' && { 'ratelimit.remaining': binding.remaining }),
  };
}
