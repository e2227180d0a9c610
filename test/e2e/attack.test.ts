// Whoever is somebody else with each request gets what is stated, and not one more.
import { expect, it } from 'vitest';
import { ATTACKS, run } from '../../bench/attacks.mjs';

const REQUESTS = 2000;

it.each(ATTACKS)(`of ${REQUESTS} requests, each with a fresh $name, $bound pass`, async (attack) => {
  expect((await run(attack, REQUESTS)).after).toBe(attack.bound);
});
