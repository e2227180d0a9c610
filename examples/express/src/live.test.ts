// oxlint-disable no-control-regex -- escape sequences are what a view on a terminal writes
import { createLimiter, type RequestContext } from '@tollgate/express';
import { definePolicy } from '@tollgate/core';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createLiveView, type Terminal } from './live.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const policy = definePolicy({ name: 'read', limits: [{ limit: 3, window: '1m' }] });

/** A view on a terminal that remembers, and a way to make it show something. */
function bench(terminal: Omit<Terminal, 'write'> = {}) {
  const written: string[] = [];
  const view = createLiveView({ ...terminal, write: (text) => written.push(text) });
  const limiter = createLimiter({ onDecision: view.onDecision });
  const request = (headers: Record<string, string> = {}, ip = '127.0.0.1'): void => {
    const ctx: RequestContext = {
      method: 'GET',
      path: '/',
      route: undefined,
      header: (name) => headers[name],
      ip,
      user: undefined,
      raw: {},
    };
    void limiter.check(ctx, policy);
  };
  const frames = (ms: number): string[] => {
    vi.advanceTimersByTime(ms);
    return written.splice(0);
  };
  return { view, request, frames };
}

it('writes the first decision at once', () => {
  const { request, frames } = bench();
  request({ 'user-agent': 'curl/8.5.0' });
  expect(frames(1)).toEqual([
    expect.stringMatching(/^ {2}127\.0\.0\.1 curl \w{4} +read +allowed 1 +denied 0 +remaining 2\n$/),
  ]);
});

it('writes a client whose numbers changed at most every 200 ms, and nothing else', () => {
  const { request, frames } = bench();
  request();
  frames(1);
  for (let i = 0; i < 5; i++) request();
  expect(frames(198)).toEqual([]);
  expect(frames(2)).toEqual([expect.stringContaining('allowed 3     denied 3     remaining 0')]);
  expect(frames(10_000)).toEqual([]);
});

it('tells clients apart without showing what they sent', () => {
  const { request, frames } = bench();
  request({ 'x-api-key': 'secret' });
  request({ 'user-agent': '\u001B[2Jcurl' });
  request({}, '2001:db8::1');
  const [text = ''] = frames(1);
  expect(text).toMatch(/^ {2}api key \w{4} .*\n {2}127\.0\.0\.1 agent \w{4} .*\n {2}2001:db8:.* agent \w{4} .*\n$/);
  expect(text).not.toMatch(/secret|\u001B/);
});

it('writes over its own lines on a terminal', () => {
  const { request, frames } = bench({ isTTY: true });
  request();
  request({ 'x-api-key': 'secret' });
  const [first = ''] = frames(1);
  expect(first.split('\n')).toHaveLength(3);
  request();
  const [second = ''] = frames(200);
  expect(second.startsWith('\u001B[2A\u001B[0J')).toBe(true);
  expect(second).toContain('allowed 2');
  expect(second.split('\n')).toHaveLength(3);
});

it('keeps a sentence above the lines', () => {
  const { view, request, frames } = bench({ isTTY: true });
  request();
  frames(1);
  view.note('Redis is gone.');
  expect(frames(0)).toEqual([expect.stringMatching(/^\u001B\[1A\u001B\[0JRedis is gone\.\n {2}127\.0\.0\.1 .*\n$/)]);
});

it('never wraps a line or fills more than the window', () => {
  const { request, frames } = bench({ isTTY: true, columns: 30, rows: 8 });
  for (let i = 0; i < 40; i++) request({ 'x-api-key': `key ${i}` });
  const lines = frames(1)
    .join('')
    .replaceAll(/\u001B\[\d?[AJ]/g, '')
    .split('\n');
  expect(lines).toHaveLength(7);
  expect(lines).toContain('  and 35 more');
  for (const line of lines) expect(line.length).toBeLessThan(30);
});

it('stays small whoever comes', () => {
  const { request, frames } = bench();
  for (let i = 0; i < 3000; i++) request({ 'x-api-key': `key ${i}` });
  const [text = ''] = frames(1);
  expect(text.split('\n')).toHaveLength(14);
  expect(text).toContain('and 2988 more');
});

it('writes what is left when it stops', () => {
  const { view, request, frames } = bench();
  request();
  frames(1);
  request();
  view.stop();
  expect(frames(0)).toEqual([expect.stringContaining('allowed 2')]);
  expect(vi.getTimerCount()).toBe(0);
});
