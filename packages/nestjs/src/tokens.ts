// Injection tokens are explicit, so that the package works where no type metadata is emitted (esbuild, oxc, swc), and
// under `Symbol.for`, so that both builds of the package (ESM and CommonJS) agree.

/** Injects the module's options, checked. */
export const RATE_LIMIT_OPTIONS: unique symbol = Symbol.for('tollgate.nestjs.options');

/** Injects the module's `Limiter`: for resetting, blocking and peeking, or for deciding by hand. */
export const RATE_LIMITER: unique symbol = Symbol.for('tollgate.nestjs.limiter');

/** Metadata key of the policy of a class or a method. */
export const RATE_LIMIT_POLICY: unique symbol = Symbol.for('tollgate.nestjs.policy');
