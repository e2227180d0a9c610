import { HttpException, StreamableFile } from '@nestjs/common';
import type { HeaderFields, Reply } from '@tollgate/core';
import type { Call } from './call.ts';
import { type HttpResponse, nodeResponseOf } from './context.ts';

/** A denied request: a 429 (or a 503 while a policy fails closed) that exception filters can catch. */
export class RateLimitException extends HttpException {}

/** Whether header fields can still be written. */
export function isOpen(response: HttpResponse): boolean {
  return !nodeResponseOf(response).headersSent;
}

export function fieldsOf(response: HttpResponse): HeaderFields {
  return {
    get: (name) => response.getHeader(name),
    set: (name, value) => response.header(name, value),
    remove: (name) => response.removeHeader(name),
  };
}

/** @throws RateLimitException */
export function deny({ status, headers, body = {}, text }: Reply, { response, isWhole }: Call): never {
  const [, type = ''] = headers.find(([name]) => name === 'Content-Type') ?? [];
  if (!isWhole || !isOpen(response)) throw new RateLimitException(body, status as number);
  if (JSON_LIKE.test(type)) {
    if (typeof body === 'object') setJsonType(response, type);
    throw new RateLimitException(typeof body === 'object' ? body : asFile(text), status as number);
  }
  // Of anything else Nest makes JSON of its own, but not of a file.
  response.header('Content-Type', type);
  throw new RateLimitException(asFile(text), status as number);
}

function asFile(text: string): StreamableFile {
  return new StreamableFile(new TextEncoder().encode(text));
}

/**
 * The type of JSON that is not plain. It takes the place of the plain one at the last moment: Nest 10 to 12 and Express
 * each have their own way of changing what is there before, and a filter may answer with something else.
 */
function setJsonType(response: HttpResponse, type: string): void {
  if (PLAIN.test(type)) return;
  const raw = nodeResponseOf(response) as unknown as { writeHead(...args: unknown[]): unknown };
  const writeHead = raw.writeHead.bind(raw);
  raw.writeHead = (...args) => {
    if (PLAIN.test(String(response.getHeader('Content-Type')))) response.header('Content-Type', type);
    return writeHead(...args);
  };
}

const PLAIN = /^application\/json\b/;
const JSON_LIKE = /^[^;]*\bjson\b/;
