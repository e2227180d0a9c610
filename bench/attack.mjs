// How far an attacker gets who is somebody else with each of 10 000 requests, on the Express example: with a limiter as
// it is often written by hand, and with Tollgate. `pnpm attack`
import { ATTACKS, run } from './attacks.mjs';

const REQUESTS = 10_000;

const rows = [];
for (const attack of ATTACKS) {
  const { before, after } = await run(attack, REQUESTS);
  rows.push({ 'fresh with each request': attack.name, 'naive': before, 'Tollgate': after, 'bound': attack.bound });
}
console.log(`Passed of ${REQUESTS} requests, within one window:`);
console.table(rows);
process.exitCode = rows.every((row) => row.Tollgate === row.bound) ? 0 : 1;
