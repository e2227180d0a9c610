/** What the runtime says of the process. All of it may be missing: edge runtimes have no `process`. */
type Host = { readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> } };

function variable(name: string): string | undefined {
  try {
    return (globalThis as Host).process?.env?.[name];
  } catch {
    // Deno asks for a permission first, and without a terminal it throws. Nobody has to grant it for hints.
    return undefined;
  }
}

export function isProduction(): boolean {
  return variable('NODE_ENV') === 'production';
}

/** Set by platforms that run an application several times, or may. */
const REPLICA_VARIABLES = [
  'NODE_UNIQUE_ID', // node:cluster
  'NODE_APP_INSTANCE', // PM2
  'KUBERNETES_SERVICE_HOST',
  'K_SERVICE', // Cloud Run
  'AWS_LAMBDA_FUNCTION_NAME',
  'FLY_ALLOC_ID',
  'DYNO', // Heroku
  'VERCEL',
];

/** What hints at more than one instance of the process; undefined when nothing does. */
export function replicaHint(): string | undefined {
  if (Number(variable('WEB_CONCURRENCY')) > 1) return 'WEB_CONCURRENCY';
  return REPLICA_VARIABLES.find((name) => variable(name) !== undefined);
}
