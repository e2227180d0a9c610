/** Injection tokens are explicit, so that the package works where no type metadata is emitted (esbuild, oxc, swc). */
export const RATE_LIMIT_OPTIONS: unique symbol = Symbol.for('tollgate.nestjs.options');

/** Metadata key of the policy of a class or a method; under `Symbol.for`, so that both builds of the package agree. */
export const RATE_LIMIT_POLICY: unique symbol = Symbol.for('tollgate.nestjs.policy');
