import { describe } from 'vitest';
import { describeOptions, describeValues } from '../testing/describe-options.ts';
import { all, duration, FUNCTION, Odd, word } from '../testing/option-values.ts';
import { deviceTokens, type DeviceTokensOptions } from './device-token.ts';
import { partition } from './partition.ts';
import { username } from './username.ts';

const required = { ...FUNCTION, bad: [undefined, ...FUNCTION.bad] };

describe('partition', () => {
  const builtIn = ['identity', 'ip', 'user', 'apiKey', 'route', 'global'];
  const { good, bad } = word(32);
  describeValues('partition.name', (name: string) => partition(name, () => 'x'), {
    good,
    bad: [undefined, ...bad, ...builtIn],
  });
  describeValues('partition.resolve', (resolve) => partition('x', resolve), required);
});

describe('username', () => {
  describeValues('username.resolve', (resolve) => username(resolve), required);
});

describeOptions({
  at: 'username',
  base: {},
  make: (options) => username(() => 'ada', options),
  options: { normalize: FUNCTION },
});

const SECRET = 'x'.repeat(32);
const shorter = (secret: unknown, option = 'deviceTokens.secret') =>
  new Odd(secret, { option, received: '"a shorter one"' });

describeOptions<DeviceTokensOptions>({
  at: 'deviceTokens',
  base: { secret: SECRET },
  make: deviceTokens,
  options: {
    secret: {
      required: true,
      good: [SECRET, [SECRET], [SECRET, '日'.repeat(32)]],
      bad: [
        shorter(''),
        shorter('hunter2'),
        shorter('x'.repeat(31)),
        shorter([SECRET, 'hunter2'], 'deviceTokens.secret[1]'),
        new Odd(491_701_234_567, { received: '"a value of type number"' }),
        new Odd(10n ** 40n, { received: '"a value of type bigint"' }),
        new Odd([SECRET, undefined], { option: 'deviceTokens.secret[1]', received: 'undefined' }),
        new Odd([[SECRET]], { option: 'deviceTokens.secret[0]', received: 'an array' }),
        ...all(null, true, {}, [], new TextEncoder().encode(SECRET), () => SECRET),
      ],
    },
    maxAge: duration(1, 3650 * 86_400_000),
    normalize: FUNCTION,
  },
});
