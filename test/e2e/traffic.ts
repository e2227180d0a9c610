// oxlint-disable no-await-in-loop -- each client waits for its answer
import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** One request and its answer, in ms of `performance.now()`. */
export interface Sample {
  readonly sentAt: number;
  readonly answeredAt: number;
  readonly status: number | undefined;
  /** The names of its quota headers. */
  readonly quota: readonly string[];
}

export interface Traffic {
  readonly samples: readonly Sample[];
  /** The longest that this process kept an answer waiting itself, ms. */
  lagMs(): number;
  stop(): Promise<void>;
}

const CLIENTS = 8;
const PROBE_MS = 2;

/** A little traffic from a few clients, each waiting for its answer: enough to see an outage, too little to cause one. */
export function startTraffic(url: string): Traffic {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  const samples: Sample[] = [];
  const state = { stopped: false, lagMs: 0 };

  const client = async (): Promise<void> => {
    while (!state.stopped) {
      samples.push(await request(url, agent));
      await sleep(5);
    }
  };
  const probe = async (): Promise<void> => {
    while (!state.stopped) {
      const before = performance.now();
      await sleep(PROBE_MS);
      state.lagMs = Math.max(state.lagMs, performance.now() - before - PROBE_MS);
    }
  };
  const running = Promise.all([probe(), ...Array.from({ length: CLIENTS }, client)]);

  return {
    samples,
    lagMs: () => state.lagMs,
    async stop() {
      state.stopped = true;
      await running;
      agent.destroy();
    },
  };
}

function request(url: string, agent: Agent): Promise<Sample> {
  return new Promise((resolve, reject) => {
    const sentAt = performance.now();
    get(url, { agent }, (response) => {
      const quota = Object.keys(response.headers).filter((name) => name.includes('ratelimit'));
      response.resume().once('end', () => {
        resolve({ sentAt, answeredAt: performance.now(), status: response.statusCode, quota });
      });
    }).once('error', reject);
  });
}
