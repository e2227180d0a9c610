import { describe, expect, it } from 'vitest';
import { StoreError } from '../errors.ts';
import { toStoreError } from './redis-errors.ts';

const replyOf = (message: string): Error => Object.assign(new Error(message), { name: 'ReplyError' });

describe('what an error of Redis means', () => {
  it.each([
    ['LOADING Redis is loading the dataset in memory', 'refused'],
    ["OOM command not allowed when used memory > 'maxmemory'.", 'refused'],
    ['NOAUTH Authentication required.', 'misconfigured'],
    ["NOPERM this user has no permissions to run the 'evalsha' command", 'misconfigured'],
    ["ERR unknown command 'EVALSHA', with args beginning with: 'c0ffee' '1' 'tg1:{203.0.113.7}:a' ", 'misconfigured'],
    // As Redis 5 and 6 tell of what fails inside of a script.
    [
      "ERR Error running script (call to f_c0ffee): @user_script:49: @user_script: 49: -READONLY You can't write against a read only replica. ",
      'refused',
    ],
    [
      "ERR Error running script (call to f_c0ffee): @user_script:76: -OOM command not allowed when used memory > 'maxmemory'. ",
      'refused',
    ],
    ['ERR Error running script (call to f_c0ffee): @user_script:1: -NOPERM no ', 'misconfigured'],
    ['ERR value is not an integer or out of range', 'failed'],
    ['WRONGTYPE Operation against a key holding the wrong kind of value', 'failed'],
  ] as const)('%s', (message, code) => {
    expect(toStoreError(replyOf(message)).code).toBe(code);
  });

  it.each([
    ['Command timed out', 'deadline'],
    ["Socket timeout. Expecting data, but didn't receive any in 3000ms.", 'deadline'],
    ['Connection is closed.', 'lost'],
    ['write EPIPE', 'lost'],
  ] as const)('%s, of a client', (message, code) => {
    expect(toStoreError(new Error(message)).code).toBe(code);
  });

  it('leaves its own errors as they are', () => {
    const error = new StoreError('deadline', 'late');
    expect(toStoreError(error)).toBe(error);
  });

  it('tells neither what was sent nor to whom', () => {
    const error = Object.assign(
      replyOf("ERR unknown command 'EVALSHA', with args beginning with: 'tg1:{203.0.113.7}' "),
      {
        command: { name: 'hello', args: ['3', 'AUTH', 'default', 'hunter2'] },
      },
    );
    const { message, cause, stack } = toStoreError(error);
    const all = [message, stack, JSON.stringify(cause), (cause as Error).message, (cause as Error).stack].join();
    expect(all).not.toMatch(/hunter2|203\.0\.113\.7/);
    expect(message).toBe("Redis: ERR unknown command 'EVALSHA'.");
  });
});
