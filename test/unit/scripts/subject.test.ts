import { expect } from 'chai';
import { describe, it } from 'mocha';
import { subjectProblem } from '../../../scripts/subject.ts';

describe('commit subjects', () => {
  for (const subject of [
    'raft: seal frames after the handshake',
    'http1, exchange: close a connection whose body is not read',
    'docs: need no table',
    'cli: bring files into one batch',
  ]) {
    it(`"${subject}" passes`, () => expect(subjectProblem(subject)).to.equal(undefined));
  }

  const refused: [string, RegExp][] = [
    ['raft: what a leader says is heard', /imperative/],
    ['raft: sealed frames', /imperative/],
    ['raft: sealing frames', /imperative/],
    ['seal frames', /form/],
    [`raft: seal ${'x'.repeat(70)}`, /at most 72/],
  ];
  for (const [subject, reason] of refused) {
    it(`"${subject.slice(0, 40)}" is refused`, () => expect(subjectProblem(subject)).to.match(reason));
  }
});
