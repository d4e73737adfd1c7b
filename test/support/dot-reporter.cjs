// Reporter of unit tests: as `dot`, with a record of what failed.
const { reporters } = require('mocha');
const { recordFailures } = require('./failed-tests.cjs');

module.exports = class Dots extends reporters.Dot {
  constructor(runner, options) {
    super(runner, options);
    recordFailures(runner);
  }
};
