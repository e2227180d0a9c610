import { expect, it } from 'vitest';
import { ConfigError } from '../errors.ts';
import { parseRouteKey } from './route-key.ts';
import { PARAM, REST } from './route-path.ts';

it.each([
  ['*', [], [REST]],
  ['/', [], []],
  ['/*', [], [REST]],
  ['/Login/', [], ['login']],
  ['GET|M-SEARCH /users/:id', ['GET', 'M-SEARCH'], ['users', PARAM]],
  ['POST *', ['POST'], [REST]],
  ['/my file/:_x9/*', [], ['my file', PARAM, REST]],
  ["/.well-known/é~!$&',=@-_.x", [], ['.well-known', "é~!$&',=@-_.x"]],
])('%j', (key, methods, pattern) => {
  expect(parseRouteKey(key)).toMatchObject({ methods, pattern });
});

it.each([
  ['', "'*', '/path' or 'METHOD /path'"],
  ['login', "'*', '/path' or 'METHOD /path'"],
  ['POST', "'*', '/path' or 'METHOD /path'"],
  ['*x', "'*', '/path' or 'METHOD /path'"],
  ['* /x', "'*', '/path' or 'METHOD /path'"],
  ['post /x', 'methods in upper case'],
  ['GET, POST /x', 'methods in upper case'],
  ['GET| /x', 'methods in upper case'],
  [' /x', 'methods in upper case'],
  ['GET  /x', "after one space, '*' or a path"],
  ['GET x', "after one space, '*' or a path"],
  ['GET *x', "after one space, '*' or a path"],
  ['HEAD /x', 'other methods than HEAD, which counts as GET'],
  ['GET|HEAD /x', 'other methods than HEAD, which counts as GET'],
  ['https://host/x', 'without scheme and host'],
  ['GET http://host/x', 'without scheme and host'],
  ['/x?y=1', 'plain text'],
  ['/x#y', 'plain text'],
  ['/x/(.*)', 'plain text'],
  ['/x/[a-z]', 'plain text'],
  ['/x{/:y}', 'plain text'],
  ['/x+', 'plain text'],
  ['/x;y', 'plain text'],
  ['/x\\y', 'plain text'],
  ['/x\n', 'plain text'],
  ['/x\0', 'plain text'],
  ['/x /y', 'plain text'],
  ['/x*', 'plain text'],
  ['/v:id', 'plain text'],
  ['/:id?', 'whole segments'],
  ['/:id(\\d+)', 'whole segments'],
  ['/:a-:b', 'whole segments'],
  ['/:', 'whole segments'],
  ['/*/x', '* at its end only'],
  ['/x/*/', '* at its end only'],
  ['/x/**', 'plain text'],
  ['//', 'empty and dot segments'],
  ['/x//y', 'empty and dot segments'],
  ['/x/../y', 'empty and dot segments'],
  ['/.', 'empty and dot segments'],
  ['/caf%C3%A9', 'decoded'],
])('the key %j', (key, rule) => {
  const make = (): unknown => parseRouteKey(key);
  expect(make).toThrow(ConfigError);
  expect(make).toThrow(rule);
  expect(make).toThrow(JSON.stringify(key));
  try {
    make();
  } catch (error) {
    expect((error as ConfigError).option).toBe(`routes['${JSON.stringify(key).slice(1, -1)}']`);
  }
});
