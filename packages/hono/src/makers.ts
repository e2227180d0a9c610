import {
  auth as authOfCore,
  definePolicy as definePolicyOfCore,
  expensive as expensiveOfCore,
  partition as partitionOfCore,
  type PolicyMakers,
  read as readOfCore,
  routes as routesOfCore,
  username as usernameOfCore,
} from '@tollgate/core';
import type { Context } from 'hono';

// The same functions: only the request that theirs are asked about has its type.
type Makers = PolicyMakers<Context>;

export const read: Makers['read'] = readOfCore;
export const expensive: Makers['expensive'] = expensiveOfCore;
export const auth: Makers['auth'] = authOfCore;
export const definePolicy: Makers['definePolicy'] = definePolicyOfCore;
export const routes: Makers['routes'] = routesOfCore;
export const partition: Makers['partition'] = partitionOfCore;
export const username: Makers['username'] = usernameOfCore;
