import { Agent, request } from 'node:http';
import type { RequestContext } from '../context.ts';
import type { Limiter } from '../limiter.ts';
import { auth } from '../policy/auth.ts';
import type { LoginStep } from './describe-login.ts';
import type { RunningApp } from './http-app.ts';

/** The only account, and what opens it. */
export const ACCOUNT = { name: 'ada@example.com', secret: 'engine' } as const;

export interface Attempt {
  /** The client's address, as the proxy tells it. */
  readonly ip: string;
  readonly name: unknown;
  /** Default: a wrong one. */
  readonly secret?: string;
  /** Default `login`. */
  readonly step?: LoginStep;
  /** What the device is known by. */
  readonly token?: string;
}

/** A response to the letter, without the time at which it was written. */
export interface LoginResponse {
  readonly status: number;
  /** `name: value`, as they were sent and in that order. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** Clients of all addresses, behind one proxy that keeps 100 connections. */
export interface LoginClient {
  post(attempt: Attempt): Promise<LoginResponse>;
  /** How many attempts reached the handler of a step. */
  readonly handled: Readonly<Record<LoginStep, number>>;
  /** Which limit decided each denial. */
  readonly denials: readonly (string | undefined)[];
  /** What is left to a stranger: of the limit of address and name, of the address, of the name in a minute and in a day. */
  remaining(ip: string, name: string): Promise<readonly number[]>;
  close(): void;
}

export function loginClient(
  { url }: RunningApp,
  limiter: Limiter,
  handled: Readonly<Record<LoginStep, number>>,
  denials: readonly (string | undefined)[],
): LoginClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 100 });
  const plain = auth<{ name: string }>({ username: ({ name }) => name });

  return {
    handled,
    denials,
    post: ({ ip, name, secret = 'a guess', step = 'login', token }) =>
      new Promise((resolve, reject) => {
        const headers = {
          'content-type': 'application/json',
          'x-forwarded-for': ip,
          ...(token !== undefined && { cookie: `__Host-device=${token}` }),
        };
        request(`${url}/${step}`, { method: 'POST', agent, headers }, (response) => {
          let body = '';
          response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
          response.once('end', () => {
            const lines = linesOf(response.rawHeaders).filter((line) => !/^date:/i.test(line));
            resolve({ status: response.statusCode ?? 0, headers: lines, body });
          });
        })
          .once('error', reject)
          .end(JSON.stringify({ name, secret }));
      }),
    async remaining(ip, name) {
      const ctx: RequestContext<{ name: string }> = {
        method: 'POST',
        path: '/login',
        route: undefined,
        header: () => undefined,
        ip,
        user: undefined,
        raw: { name },
      };
      const verdict = await limiter.peek(ctx, plain);
      return (verdict?.outcomes ?? []).map((outcome) => outcome.remaining);
    },
    close: () => agent.destroy(),
  };
}

function linesOf(raw: readonly string[]): string[] {
  const lines: string[] = [];
  for (let i = 0; i < raw.length; i += 2) lines.push(`${raw[i]}: ${raw[i + 1]}`);
  return lines;
}
