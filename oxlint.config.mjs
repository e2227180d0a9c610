// The lint rules, and the borders between the parts of the project, each with its reason in the message.
// A script and not JSON, so that core's order below is one list that reads as the architecture.

/** Core's layers: files or folders of packages/core/src. Each imports only from those above it here, or from its own. */
const layers = [
  ['errors', 'options', 'duration', 'maybe', 'warnings', 'environment'],
  ['context', 'node-context'],
  ['identity'],
  ['algorithms'],
  ['policy'],
  ['stores'],
  ['decision'],
  ['resilience'],
  ['reply'],
  ['telemetry'],
  ['limiter-options', 'limiter-interface'],
  ['limiter'],
  ['shared-limiter'],
  ['index'],
  // Entries of the package: they may use everything, nothing may use them.
  ['redis', 'testing'],
];

const order = layers.map((names) => names.join(', ')).join(' ← ');

const tests = '**/*.test.ts';

const noNode = {
  regex: '^node:',
  message: 'This code also runs on edge runtimes, where a static node: import stops the Worker from starting.',
};
const noIoredis = {
  regex: '^ioredis',
  message: 'Only the "./redis" entry and the Redis stores behind it may reach ioredis: it is an optional peer.',
};
const noPlace = {
  regex: '^\\.',
  message: 'This file has no place in the order of core yet: name it, or its folder, in `layers` of oxlint.config.mjs.',
};
const coreByName = {
  regex: '^(\\.\\./)+(core|packages)/',
  message: 'Import another package by its name, as its users do.',
};
const coreFace = {
  regex: '^@tollgate/core/',
  message: 'Adapters use the public face of core, "@tollgate/core", so that anyone can write one.',
};
const noInternals = {
  regex: '^@tollgate/[a-z]+/(src|dist)(/|$)',
  message: 'Only the entries that a package exports are public.',
};

/** @param {object[]} patterns */
const ban = (...patterns) => ({ 'no-restricted-imports': ['error', { patterns }] });

/** @param {number} index the layer; everything after it is out of reach */
function layerOverrides(index) {
  const here = layers[index] ?? [];
  const right = layers.slice(index + 1).flat();
  /** @param {string} up how a file of this layer spells the root of core's sources */
  const onlyLeft = (up) => ({
    regex: `^${up}(${right.join('|')})(/|\\.ts$)`,
    message: `${here.join(', ')} may import only what is to its left: ${order}. Nothing calls backwards.`,
  });
  const overrides = [
    { files: here.map((name) => `packages/core/src/${name}.ts`), rules: ban(noNode, noIoredis, onlyLeft('\\./')) },
    {
      files: here.map((name) => `packages/core/src/${name}/**/*.ts`),
      rules: ban(noNode, noIoredis, onlyLeft('(\\.\\./)+')),
    },
  ];
  // The only files of a layer that know ioredis.
  if (here.includes('stores')) {
    overrides.push({ files: ['packages/core/src/stores/redis-*.ts'], rules: ban(noNode, onlyLeft('(\\.\\./)+')) });
  }
  return overrides;
}

export default {
  plugins: ['eslint', 'typescript', 'unicorn', 'oxc', 'import', 'vitest'],
  categories: { correctness: 'error', suspicious: 'error', perf: 'error' },
  ignorePatterns: [
    '**/dist/**',
    '**/*.generated.ts',
    // Runs in a project of its own, against installed packages that the workspace does not have.
    'test/packaging/consumer/**',
  ],
  rules: {
    'eqeqeq': 'error',
    'no-console': 'error',
    // A middleware factory returns a function of its own name, so that stacks read well.
    'no-shadow': ['error', { allow: ['rateLimit'] }],
    'import/no-cycle': 'error',
    'import/no-self-import': 'error',
    'import/no-duplicates': 'error',
    'import/no-unassigned-import': ['error', { allow: ['reflect-metadata'] }],
    // `fc.assert`, `express.json`, and a Fastify plugin that is also the default export, are how their users write them.
    'import/no-named-as-default': 'off',
    'import/no-named-as-default-member': 'off',
    'typescript/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
    'typescript/no-deprecated': 'error',
    'typescript/no-explicit-any': 'error',
    // A Nest module is a class because its decorator wants one.
    'typescript/no-extraneous-class': ['error', { allowWithDecorator: true }],
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/no-non-null-assertion': 'error',
    'typescript/no-unsafe-argument': 'error',
    'typescript/no-unsafe-assignment': 'error',
    'typescript/no-unsafe-call': 'error',
    'typescript/no-unsafe-member-access': 'error',
    'typescript/no-unsafe-return': 'error',
    // `as` after a check is how what comes from outside (JSON, Redis) gets its type; `any` stays forbidden above.
    'typescript/no-unsafe-type-assertion': 'off',
    'typescript/only-throw-error': 'error',
    'typescript/prefer-readonly': 'error',
    'typescript/return-await': ['error', 'in-try-catch'],
    'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    'unicorn/prefer-node-protocol': 'error',
    'vitest/expect-expect': [
      'error',
      { assertFunctionNames: ['expect', 'expect*', 'assert*', 'fc.assert', 'inConsumer'] },
    ],
  },
  overrides: [
    { files: ['packages/core/src/**/*.ts'], rules: ban(noNode, noIoredis, noPlace) },
    ...layers.slice(0, -1).flatMap((_, index) => layerOverrides(index)),
    { files: ['packages/core/src/redis.ts'], rules: ban(noNode) },
    {
      files: ['packages/core/src/testing/**/*.ts'],
      // The suites build their tests from tables and wrappers, which the rules for tests cannot follow.
      rules: { 'no-restricted-imports': 'off', 'vitest/valid-title': 'off', 'vitest/expect-expect': 'off' },
    },

    { files: ['packages/{express,fastify,nestjs}/src/**/*.ts'], rules: ban(coreFace, coreByName) },
    { files: ['packages/hono/src/**/*.ts'], rules: ban(coreFace, coreByName, noNode) },
    {
      files: [
        'packages/{express,fastify,nestjs,hono}/src/**/*.test.ts',
        'packages/{express,fastify,nestjs,hono}/src/testing/**/*.ts',
        'examples/*/src/**/*.ts',
      ],
      rules: ban(coreByName, noInternals),
    },

    // A test may look at its subject from both sides: it drives a layer through those above it.
    { files: [`packages/core/src/${tests}`], rules: { 'no-restricted-imports': 'off' } },
    {
      files: [tests, 'packages/*/src/testing/**/*.ts', 'test/chaos/**', 'scripts/**', 'bench/**'],
      rules: {
        // Requests that must come one after the other are what a test of a limiter is made of.
        'no-await-in-loop': 'off',
        // A property holds for the states that a random script reaches: what is expected depends on them.
        'vitest/no-conditional-expect': 'off',
        // Fixtures of a test are taken apart in its parameters.
        'typescript/unbound-method': 'off',
        'unicorn/consistent-function-scoping': 'off',
      },
    },
    // Programs talk to a terminal.
    {
      files: ['scripts/**', 'bench/**', 'examples/*/src/server.ts', 'test/edge/apps/**'],
      rules: { 'no-console': 'off' },
    },
  ],
};
