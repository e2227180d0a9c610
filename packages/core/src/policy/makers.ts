import type { CustomPartition } from '../identity/partition.ts';
import type { UsernameOptions } from '../identity/username.ts';
import type { Resolver } from '../context.ts';
import type { AuthOptions } from './auth.ts';
import type { Policy, PolicyOptions } from './policy.ts';
import type { ExpensiveOptions, ReadOptions } from './presets.ts';
import type { RouteEntries, RouteTable } from './routes.ts';

/** What makes policies, for adapters to export with their framework's request: `auth({ username: (req) => … })` knows its `req`. */
export interface PolicyMakers<Request> {
  readonly read: <R = Request>(options?: ReadOptions<R>) => Policy<R>;
  readonly expensive: <R = Request>(options?: ExpensiveOptions<R>) => Policy<R>;
  readonly auth: <R = Request>(options: AuthOptions<R>) => Policy<R>;
  readonly definePolicy: <R = Request>(options: PolicyOptions<R>) => Policy<R>;
  readonly routes: <R = Request>(table: RouteEntries<R>) => RouteTable<R>;
  readonly partition: <R = Request>(name: string, resolve: CustomPartition<R>['resolve']) => CustomPartition<R>;
  readonly username: <R = Request>(resolve: Resolver<R, unknown>, options?: UsernameOptions) => CustomPartition<R>;
}
