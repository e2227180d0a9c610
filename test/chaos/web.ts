import { Agent, createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type DecisionSource, type Limiter, rateLimit } from '@tollgate/express';
import express from 'express';
import type { Ask } from './load.ts';
import { MODES, POLICIES } from './policies.ts';

/** The limiter in an Express application, one route for each failure mode, and requests to it over HTTP. */
export async function serve(limiter: Limiter): Promise<{ ask: Ask; stop(): Promise<void> }> {
  const app = express().set('trust proxy', 'loopback');
  for (const mode of MODES) {
    app.get(`/${mode}`, rateLimit(POLICIES[mode], { limiter }), (req, res) => {
      res.json({ source: req.rateLimit?.source });
    });
  }
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true });
  return {
    async ask(mode, ip) {
      const response = await fetchFrom(`http://127.0.0.1:${port}/${mode}`, agent, ip);
      const { statusCode, headers, text } = response;
      const quota = Object.keys(headers).some((name) => name.includes('ratelimit'));
      if (statusCode === 200) return { ...(JSON.parse(text) as { source: DecisionSource }), allowed: true, quota };
      // With limits that nobody reaches, nothing else may come.
      if (statusCode !== 503) throw new Error(`${mode} answered ${statusCode}: ${text}`);
      return { source: 'closed', allowed: false, quota };
    },
    async stop() {
      agent.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type Fetched = Pick<IncomingMessage, 'statusCode' | 'headers'> & { text: string };

function fetchFrom(url: string, agent: Agent, ip: string): Promise<Fetched> {
  return new Promise((resolve, reject) => {
    get(url, { agent, headers: { 'x-forwarded-for': ip } }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.once('end', () => resolve({ statusCode: response.statusCode, headers: response.headers, text }));
    }).once('error', reject);
  });
}
