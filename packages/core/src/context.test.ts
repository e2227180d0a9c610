import { expect, it } from 'vitest';
import { readPath } from './context.ts';

it.each([
  ['/', '/'],
  ['/login?x=/y', '/login'],
  ['/login#x', '/login'],
  ['?x', '/'],
  ['', '/'],
  ['http://host/login?x', '/login'],
  ['HTTPS://user@host:80/login', '/login'],
  ['http://host', '/'],
  ['http://host?x=1', '/'],
  ['http://host#x', '/'],
  ['http://host?x/login', 'http://host?x/login'],
  ['http://host#x/login', 'http://host#x/login'],
  ['/http://host/login', '/http://host/login'],
  ['*', '*'],
])('the path of %j is %j', (target, path) => {
  expect(readPath(target)).toBe(path);
});
