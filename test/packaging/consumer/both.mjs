// A process can hold the ES modules and the CommonJS copy at once (an application in one, a library in the other). Without
// a limiter of their own they share the one of the process: two copies must not mean twice the quota.
import { createRequire } from 'node:module';
import assert from 'node:assert/strict';
import * as esm from '@tollgate/express';
import express from 'express';
import check from './check.cjs';

const cjs = createRequire(import.meta.url)('@tollgate/express');
assert.notEqual(cjs.rateLimit, esm.rateLimit, 'two copies are loaded');

const answers = [
  ...(await check.ask(check.limited(express, cjs.rateLimit(cjs.definePolicy(check.tiny))), 1)),
  ...(await check.ask(check.limited(express, esm.rateLimit(esm.definePolicy(check.tiny))), 2)),
];
check.assertLimited(answers);
