// Reporter of `npm test`: as `spec`, but a failure is explained as soon as it is reported, not at the end of its stage, and
// the file of SLUICE_FAILED_TESTS gets one line with the name of each.
const { appendFileSync } = require('node:fs');
const { reporters, Runner } = require('mocha');

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
    runner.on(Runner.constants.EVENT_TEST_FAIL, (test, error) => {
      reporters.Base.consoleLog(`    failed: ${test.fullTitle()}\n${explain(error)}`);
      const file = process.env.SLUICE_FAILED_TESTS;
      if (file !== undefined) appendFileSync(file, `${test.fullTitle().replaceAll('\n', ' ')}\n`);
    });
  }
}

module.exports = Explaining;
