// Jest as it comes: CommonJS, no transform of node_modules.
const { checkAll } = require('./check.cjs');

test('all packages load and limit', async () => {
  await checkAll(require('./load.cjs'));
});
