// What is left in Redis: small, soon gone, in one slot for each client, and without a secret.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startRedis, type TestRedis } from '../../packages/core/src/testing/index.ts';
import { type Demo, startDemo } from './demo.ts';

const SECRETS = ['sk_live_9f8e7d6c5b4a', 'short', '{tag}:1', 'k'.repeat(4000), '__proto__', 'key with spaces'];
const EMAILS = [
  'ada@example.com',
  'grace+tag@example.com',
  `${'a'.repeat(300)}@example.com`,
  '{x}:y@example.com',
  '\u0000@b',
];

let redis: TestRedis;
let demo: Demo;
beforeAll(async () => {
  redis = await startRedis();
  demo = await startDemo({ REDIS_URL: redis.url });
});
afterAll(async () => {
  await demo.stop();
  await redis.stop();
});

async function post(path: string, body: object, headers: Record<string, string> = {}): Promise<number> {
  const options = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } };
  return (await fetch(demo.url + path, { ...options, body: JSON.stringify(body) })).status;
}

it('writes keys that are bounded, expire, and hold no secret', async () => {
  for (const secret of SECRETS) {
    expect((await fetch(demo.url, { headers: { 'x-api-key': secret } })).status).toBe(200);
    expect((await fetch(demo.url, { headers: { authorization: `Bearer ${secret}` } })).status).toBe(200);
    expect((await fetch(demo.url, { headers: { 'user-agent': secret } })).status).toBe(200);
    expect(await post('/search', { query: secret }, { 'x-api-key': secret })).toBe(200);
  }
  for (const email of EMAILS) expect(await post('/login', { email, password: 'guess' })).toBe(401);

  const keys = await redis.client.keys('*');
  for (const path of ['read', 'search', 'login']) {
    expect(keys.filter((key) => key.includes(`}:${path}:`)).length).toBeGreaterThan(1);
  }
  for (const key of keys) {
    expect(key).toMatch(/^demo:tg1:\{[^{}]+\}:[^{}]+$/);
    expect(Buffer.byteLength(key)).toBeLessThanOrEqual(200);
    for (const secret of [...SECRETS, ...EMAILS]) expect(key).not.toContain(secret);
    const ttlMs = await redis.client.pttl(key);
    expect(ttlMs).toBeGreaterThan(0);
    const windowMs = Number(/:(?:sw|fw|tb|lb|sl)(\d+):/.exec(key)?.[1]);
    expect(ttlMs).toBeLessThanOrEqual(2 * windowMs + 1000);
  }
});
