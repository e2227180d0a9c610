import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from 'node:http2';

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
// The types of frames.
const HEADERS = 1;
const RST_STREAM = 3;
const SETTINGS = 4;
const PING = 6;
// The flag of an answered PING.
const ACK = 1;
const END_STREAM_AND_HEADERS = 0x5;
const CANCEL = Buffer.from([0, 0, 0, 8]);

export interface Http2Answer {
  readonly headers: IncomingHttpHeaders;
  readonly status: number;
  readonly body: string;
}

/** GET requests of one session, all sent in the same tick. */
export async function getAll(url: string, paths: readonly string[]): Promise<Http2Answer[]> {
  const session = connect(url);
  try {
    await new Promise((resolve, reject) => session.once('connect', resolve).once('error', reject));
    return await Promise.all(paths.map((path) => get(session, path)));
  } finally {
    await new Promise<void>((resolve) => session.close(resolve));
  }
}

function get(session: ClientHttp2Session, path: string): Promise<Http2Answer> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':path': path, 'user-agent': 'suite' });
    let headers: IncomingHttpHeaders = {};
    let body = '';
    stream.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    stream.once('response', (received) => (headers = received)).once('error', reject);
    stream.once('end', () => resolve({ headers, status: Number(headers[':status']), body }));
  });
}

/** What a client sends that opens streams and resets each at once: bytes, since no client library sends both. Ends with a PING. */
export function resetStreams(path: string, count: number): Buffer {
  const block = Buffer.concat([
    Buffer.from([0x82, 0x86]), // :method GET, :scheme http
    literal(0x04, path), // :path
    literal(0x01, 'example.test'), // :authority
    Buffer.from([0x0f, 0x2b, 5]), // user-agent
    Buffer.from('suite'),
  ]);
  const frames = Array.from({ length: count }, (_, i) => [
    frame(HEADERS, 2 * i + 1, block, END_STREAM_AND_HEADERS),
    frame(RST_STREAM, 2 * i + 1, CANCEL),
  ]);
  return Buffer.concat([
    Buffer.from(PREFACE),
    frame(SETTINGS, 0),
    ...frames.flat(),
    frame(PING, 0, Buffer.from('all sent')),
  ]);
}

/** The server has read everything up to the PING. */
export const PING_ACK: RegExp = new RegExp(`${String.fromCharCode(PING, ACK)}.{4}all sent`, 's');

/** A header field of HPACK that is not indexed, with a name of the static table. */
function literal(name: number, value: string): Buffer {
  return Buffer.concat([Buffer.from([name, value.length]), Buffer.from(value)]);
}

function frame(type: number, stream: number, payload: Uint8Array = Buffer.of(), flags = 0): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}
