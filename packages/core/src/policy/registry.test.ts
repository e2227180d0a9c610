import { expect, it } from 'vitest';
import { createRegistry } from './registry.ts';
import { read } from './presets.ts';

it('takes a name for one shape of limits', () => {
  const registry = createRegistry();
  registry.add(read());
  registry.add(read());
  expect(() => registry.add(read({ limit: 5 }))).toThrow(
    /^Two policies are named "read" and have different limits \(.*=1000 .* \/ .*=5 /,
  );
  registry.add(read({ limit: 5, name: 'slow' }));
});
