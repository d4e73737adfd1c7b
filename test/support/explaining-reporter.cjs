// Reporter of `npm test`: as `spec`, with a record of what failed, and a failure is explained as soon as it is reported, not at
// the end of its stage.
const { reporters, Runner } = require('mocha');
const { recordFailures } = require('./failed-tests.cjs');

const explain = ({ stack, message, actual, expected, showDiff }) => {
  const diff = showDiff ? [`expected: ${shown(expected)}`, `actual:   ${shown(actual)}`] : [];
  return [stack ?? message, ...diff].join('\n').replace(/^/gm, '      ');
};

const shown = (value) => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text === undefined ? String(value) : text.slice(0, 2_000);
};

class Explaining extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    recordFailures(runner);
    runner.on(Runner.constants.EVENT_TEST_FAIL, (test, error) => {
      reporters.Base.consoleLog(`    failed: ${test.fullTitle()}\n${explain(error)}`);
    });
  }
}

module.exports = Explaining;
