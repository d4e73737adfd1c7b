import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { PureOperations } from '../../../../raft/testing/adapter/pure-operations.ts';

/** Returns the output for a foreign scenario player: one answer a line. */
function answersOf(command: 'adapter' | 'pure', lines: readonly (object | string)[]): unknown[] {
  const script = fileURLToPath(new URL(`../../../../raft/testing/commands/${command}.ts`, import.meta.url));
  const input = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
  const { stdout, status, stderr } = spawnSync(process.execPath, [script], { input, encoding: 'utf8' });
  expect(status, stderr).to.equal(0);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe('raft:adapter', () => {
  it('drives a cluster line by line', () => {
    const answers = answersOf('adapter', [
      { op: 'reset' },
      { op: 'addNodes', n: 2, voters: [1, 2], index: 10, opts: { prevote: true } },
      { op: 'campaign', id: 1 },
      { op: 'ready', id: 1 },
      { op: 'wire' },
      { op: 'stabilize' },
      { op: 'propose', id: 1, data: 'hello' },
      { op: 'propose', id: 2, data: 'elsewhere' },
      { op: 'stabilize' },
      { op: 'state' },
    ]);
    expect(answers[4]).to.deep.equal({
      ok: true,
      messages: [{ from: 1, to: 2, kind: 'MsgPreVote', term: 1, index: 10, logTerm: 1 }],
    });
    expect(answers[6]).to.deep.equal({ ok: true, accepted: true, index: 12, term: 1 });
    expect(answers[7]).to.deep.equal({ ok: true, accepted: false, dropped: 'not leader' });
    const log = [
      { term: 1, index: 11, type: 'normal', data: '' },
      { term: 1, index: 12, type: 'normal', data: 'hello' },
    ];
    expect(answers[9]).to.have.nested.property('nodes[0].role', 'leader');
    expect(answers[9]).to.have.deep.nested.property('nodes[1].log', log);
    expect(answers[9]).to.have.nested.property('nodes[0].progress.2.match', 12);
  });

  it('answers what makes no sense with an error, and goes on', () => {
    const answers = answersOf('adapter', [
      '{',
      { op: 'fly' },
      { op: 'campaign', id: 9 },
      { op: 'campaign' },
      { op: 'wire' },
    ]);
    expect(answers.map((answer) => Reflect.get(Object(answer), 'ok'))).to.deep.equal([
      false,
      false,
      false,
      false,
      true,
    ]);
    expect(answers[1]).to.deep.equal({ ok: false, error: 'there is no command "fly"' });
  });
});

describe('raft:pure', () => {
  it('answers line by line', () => {
    expect(answersOf('pure', [{ op: 'committed', voters: [1, 2, 3], acked: { 1: 5, 2: 7, 3: 3 } }])).to.deep.equal([
      { ok: true, index: 5 },
    ]);
  });

  it('counts both halves of a joint configuration', () => {
    const pure = new PureOperations();
    const halves = { voters: [1, 2, 3], outgoing: [3, 4, 5] };
    expect(pure.run({ op: 'committed', ...halves, acked: { 1: 9, 2: 9, 3: 9, 4: 2 } })).to.deep.equal({ index: 2 });
    expect(pure.run({ op: 'committed', voters: [] })).to.deep.equal({ index: '∞' });
    expect(pure.run({ op: 'vote', ...halves, votes: { 1: true, 2: true } })).to.deep.equal({ result: 'pending' });
    expect(pure.run({ op: 'vote', ...halves, votes: { 1: true, 2: true, 3: false, 4: false } })).to.deep.equal({
      result: 'lost',
    });
  });

  it('carries the configuration from line to line until it is reset', () => {
    const pure = new PureOperations();
    pure.run({ op: 'simple', changes: ['v1'] });
    expect(pure.run({ op: 'enterJoint', changes: ['v2', 'l3'], autoLeave: true })).to.deep.equal({
      config: { voters: [1, 2], outgoing: [1], learners: [3], learnersNext: [], autoLeave: true },
    });
    expect(pure.run({ op: 'simple', changes: ['v4'] })).to.have.property('error');
    expect(pure.run({ op: 'leaveJoint' })).to.have.deep.nested.property('config.outgoing', []);
    pure.run({ op: 'reset' });
    expect(pure.run({ op: 'leaveJoint' })).to.have.property('error');
  });
});
