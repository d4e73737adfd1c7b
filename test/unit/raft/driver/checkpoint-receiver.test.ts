import { expect } from 'chai';
import { type CheckpointMeta, emptyConfig } from '../../../../raft/core/types.ts';
import { CheckpointReceiver } from '../../../../raft/driver/checkpoint-receiver.ts';

const chunkBytes = 10;
const meta: CheckpointMeta = {
  ...{ index: 9, term: 1, time: 0, config: emptyConfig },
  ...{ file: 'theirs', size: 60, sha256: 'x' },
};

/** A file that takes what continues it, at once. */
function receiving(window = 2) {
  let held = 0;
  const acks: string[] = [];
  const installed: string[] = [];
  const collector = {
    get held() {
      return held;
    },
    append(data: Uint8Array, done: (ok: boolean) => void) {
      held += data.length;
      done(true);
    },
    finish: (done: (file: CheckpointMeta) => void) => done({ ...meta, file: 'ours' }),
    discard: () => acks.push('discard'),
  };
  const store = { collect: () => collector, prune: () => undefined, read: () => expect.fail('nothing is read') };
  const receiver = new CheckpointReceiver(store, window, {
    ack: (_to, _transfer, offset, refused) => acks.push(`${offset}${refused ? ' refused' : ''}`),
    install: ({ file }) => installed.push(file),
  });
  receiver.offered('a#1', meta, 1);
  const chunk = (number: number, transfer = 1) =>
    receiver.chunk('a#1', transfer, number * chunkBytes, new Uint8Array(chunkBytes));
  return { receiver, chunk, acks, installed };
}

describe('receiver of a checkpoint', () => {
  it('puts chunks in order and hands the file on when it is whole', () => {
    const { chunk, acks, installed } = receiving();
    for (const number of [1, 0, 3, 2, 4, 5]) chunk(number);
    expect(acks).to.deep.equal(['0', '10', '20', '30', '40', '50', '60']);
    expect(installed).to.deep.equal(['ours']);
  });

  it('keeps what is nearest when more arrives than it may hold', () => {
    const { chunk, acks } = receiving();
    for (const number of [4, 5, 3, 2, 1, 0]) chunk(number);
    expect(acks.at(-1), 'chunks 0 and 1').to.equal('20');
    for (const number of [2, 3, 4, 5]) chunk(number);
    expect(acks.at(-1)).to.equal('60');
  });

  it('takes nothing of another transfer', () => {
    const { chunk, acks } = receiving();
    chunk(0, 2);
    expect(acks).to.deep.equal(['0']);
  });

  it('says how far it is when the same checkpoint is offered again, and starts over for another', () => {
    const { receiver, chunk, acks } = receiving();
    chunk(0);
    receiver.offered('b#1', meta, 7);
    receiver.offered('b#1', { ...meta, index: 12, sha256: 'y' }, 8);
    expect(acks).to.deep.equal(['0', '10', '10', 'discard', '10']);
  });
});
