import { expect } from 'chai';
import { findingsIn, summaryOf } from '../../document/findings.ts';

describe('what a reader of test results gets of a run against the document', () => {
  const report = { running_time: 60.4, test_cases: { generated: 900, unique_failures: 2, errored: 0 } };
  const ended = { place: 'node', seed: '7', code: 0, report, outputFile: '/tmp/out' };

  it('is one line', () => {
    expect(summaryOf(ended)).to.equal('node, seed 7: 900 cases in 60 s, no finding');
    expect(summaryOf({ ...ended, code: 1 })).to.equal(
      'node, seed 7: 900 cases in 60 s, 2 findings, 0 errors: /tmp/out',
    );
    expect(summaryOf({ ...ended, code: 2, report: undefined })).to.include('ended with 2 before it could report');
  });

  it('and what was found, without the progress', () => {
    const output = ['progress', '', '     nothing ran', '=== FAILURES ===', 'x', 'y', '=== SUMMARY ===', 'z'].join(
      '\n',
    );
    expect(findingsIn(output)).to.deep.equal(['=== FAILURES ===', 'x', 'y']);
  });

  it('or its last words, where it came to no result', () => {
    expect(findingsIn('Usage: …\nError: no such option\n')).to.deep.equal(['Usage: …', 'Error: no such option']);
  });
});
