// Record of the tests that failed: a line of JSON for each in the file of SLUICE_FAILED_TESTS, for the closing line of a run
// and for its second run (scripts/mocha.mjs).
const { appendFileSync } = require('node:fs');
const { relative } = require('node:path');
const { Runner } = require('mocha');

/** Returns the test file of a test, or of a hook by the stack of its error; undefined where neither names one. */
const fileOf = ({ file }, { stack = '' }) => {
  if (typeof file === 'string') return relative(process.cwd(), file);
  return /\btest\/[\w/.-]+\.test\.ts/.exec(stack)?.[0];
};

exports.recordFailures = (runner) => {
  const record = process.env.SLUICE_FAILED_TESTS;
  if (record === undefined) return;
  runner.on(Runner.constants.EVENT_TEST_FAIL, (test, error) => {
    const line = { name: test.fullTitle().replaceAll('\n', ' '), file: fileOf(test, error) };
    appendFileSync(record, `${JSON.stringify(line)}\n`);
  });
};
