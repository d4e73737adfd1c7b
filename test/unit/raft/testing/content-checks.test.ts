import { expect } from 'chai';

import { type CheckpointMeta, type Config, emptyConfig } from '../../../../raft/core/types.ts';
import { ContentChecks } from '../../../../raft/testing/sim/content-checks.ts';
import { Ghost } from '../../../../raft/testing/sim/ghost.ts';
import {
  applyCommand,
  decodeOp,
  emptyState,
  encodeOp,
  type MachineState,
} from '../../../../raft/testing/sim/state-machine.ts';

/** Operation → register; 0 is the register of activations. */
const registers = [0, 0, 1, 2, 0];
const config: Config = { ...emptyConfig, voters: ['a#1', 'b#1', 'c#1'] };

describe('the checks of what a single node shows', () => {
  it('accept a checkpoint of the agreed state (B16)', () => {
    const { checks, failures } = agreedUpTo(4);
    checks.checkpoint('a#1', metaAt(5), stateAt(5));
    checks.adopted('a#1', stateAt(3));
    expect(failures).to.deep.equal([]);
  });

  const badContents: readonly (readonly [string, (state: MachineState) => void])[] = [
    ['a register less', ({ registers }) => registers.delete(1)],
    ['an older value', ({ registers }) => registers.set(0, 1)],
    ['values in each other’s place', ({ registers }) => registers.set(1, 3).set(2, 2)],
    ['another history', (state) => (state.hash += 1)],
    ['another position', (state) => (state.applied -= 1)],
    ['an activation of before', (state) => (state.activation = { index: 2, op: 1 })],
  ];
  for (const [name, spoil] of badContents) {
    it(`find a checkpoint with ${name} (B16)`, () => {
      const { checks, failures } = agreedUpTo(4);
      const state = stateAt(5);
      spoil(state);
      checks.checkpoint('a#1', metaAt(5), state);
      checks.adopted('a#1', state);
      expect(failures.length).to.be.greaterThan(0);
      expect(new Set(failures)).to.deep.equal(new Set(['B16']));
    });
  }

  const badMetas: readonly (readonly [string, Partial<CheckpointMeta>])[] = [
    ['another term', { term: 2 }],
    ['another time', { time: 7 }],
    ['another configuration', { config: { ...config, voters: ['a#1'] } }],
    ['a position that nobody has agreed on', { index: 6 }],
  ];
  for (const [name, change] of badMetas) {
    it(`find a checkpoint that names ${name} (B16)`, () => {
      const { checks, failures } = agreedUpTo(4);
      checks.checkpoint('a#1', { ...metaAt(5), ...change }, stateAt(5));
      expect(failures).to.include('B16');
    });
  }

  it('find a checkpoint that no node wrote (B16)', () => {
    const { checks, failures } = agreedUpTo(4);
    checks.checkpoint('a#1', metaAt(5), undefined);
    expect(failures).to.deep.equal(['B16']);
  });

  const reads = [
    ['accept a read at its revision', { asked: 3, served: 3, value: 2, known: 2 }, []],
    ['accept a read that sees more', { asked: 2, served: 5, value: 4, known: 1 }, []],
    ['accept a read of what was never written', { asked: 0, served: 0, value: 0, known: 0 }, []],
    ['find a read below its revision', { asked: 3, served: 2, value: 2, known: 2 }, ['B22']],
    ['find a read that has forgotten the write of its session', { asked: 5, served: 5, value: 1, known: 4 }, ['B22']],
    ['find a read of nothing after a write', { asked: 2, served: 5, value: 0, known: 1 }, ['B22']],
  ] as const;
  for (const [name, read, expected] of reads) {
    it(`${name} (B22)`, () => {
      const { checks, failures } = agreedUpTo(4);
      checks.sessionRead('a#1', read);
      expect(failures).to.deep.equal(expected);
    });
  }

  it('find an event whose id does not rise (B22)', () => {
    const { checks, failures } = agreedUpTo(4);
    checks.event('a#1', 2, { index: 5, op: 4 });
    expect(failures).to.deep.equal([]);
    checks.event('a#1', 5, { index: 5, op: 4 });
    checks.event('a#1', 5, { index: 2, op: 1 });
    expect(failures).to.deep.equal(['B22', 'B22']);
  });

  it('find a proxy that goes back, or shows what was not agreed on (B23)', () => {
    const { checks, failures } = agreedUpTo(4);
    checks.shown('proxy', 2, { index: 5, op: 4 });
    expect(failures).to.deep.equal([]);
    checks.shown('proxy', 5, { index: 2, op: 1 });
    checks.shown('proxy', 2, { index: 5, op: 1 });
    expect(failures).to.deep.equal(['B23', 'B23']);
  });
});

/** The configuration at 1, then operation n at index n + 1. */
function agreedUpTo(ops: number) {
  const failures: string[] = [];
  const fail = (rule: string) => failures.push(rule);
  const ghost = new Ghost(fail, { opOf: decodeOp, registerOf: (op) => registers[op] ?? 0 });
  ghost.commits('a#1', { index: 1, term: 1, time: 0, kind: 'config', config }, 0);
  for (let op = 1; op <= ops; op += 1) {
    ghost.commits('a#1', { index: op + 1, term: 1, time: 0, kind: 'command', payload: encodeOp(op, 4) }, 1);
    ghost.applies('a#1', op + 1, op);
  }
  return { checks: new ContentChecks(ghost, fail), failures };
}

function stateAt(index: number): MachineState {
  const state = emptyState();
  for (let op = 1; op < index; op += 1) {
    const entry = { index: op + 1, term: 1, time: 0, kind: 'command', payload: encodeOp(op, 4) } as const;
    applyCommand(state, entry, registers[op] ?? 0);
  }
  return Object.assign(state, { applied: index, term: 1 });
}

function metaAt(index: number): CheckpointMeta {
  return { index, term: 1, time: 0, config, file: 'any', size: 1, sha256: 'any' };
}
