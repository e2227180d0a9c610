const { checkAll } = require('./check.cjs');
const packages = require('./load.cjs');

checkAll(packages).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
