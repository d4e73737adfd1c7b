import { expect } from 'chai';
import { Delivery, retryMs } from '../../../../src/cluster/log/delivery.ts';
import type { Relay, RelayOutcome, RelayRequest } from '../../../../src/cluster/relay/relayed-write.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const requestId = { origin: 'a', incarnation: 1, boot: 1, seq: 1, ackedBelow: 1 };
const turn = () => new Promise((resolve) => setImmediate(resolve));
const b = { nodeId: 'b', address: 'b:1' };
const c = { nodeId: 'c', address: 'c:1' };

/** A relay whose answers the test gives, in the order of the requests. */
class HeldRelay implements Relay {
  readonly requests: RelayRequest[] = [];
  readonly #answers: ((outcome: RelayOutcome) => void)[] = [];

  send(request: RelayRequest): Promise<RelayOutcome> {
    this.requests.push(request);
    return new Promise((resolve) => this.#answers.push(resolve));
  }

  async answer(at: number, outcome: RelayOutcome): Promise<void> {
    this.#answers[at]?.(outcome);
    await turn();
  }
}

function bed(leader: typeof b | 'self' | undefined) {
  const clock = new ManualClock();
  const relay = new HeldRelay();
  const proposed: Uint8Array[] = [];
  const port = { propose: (bytes: Uint8Array) => void proposed.push(bytes) };
  const applied: number[] = [];
  const proposal = {
    requestId,
    bytes: Buffer.from('command'),
    deadline: clock.monotonicMs() + 10_000,
    applied: (index: number) => applied.push(index),
  };
  const delivery = new Delivery({ port, relay, clock }, proposal, leader);
  return { clock, relay, proposed, applied, delivery };
}

describe('Delivery', () => {
  it('proposes on the node that leads, and is uncertain from then on', () => {
    const { proposed, relay, delivery } = bed('self');
    expect(proposed).to.deep.equal([Buffer.from('command')]);
    expect(relay.requests).to.deep.equal([]);
    expect(delivery.isUncertain).to.equal(true);
  });

  it('relays to another leader with the time that is left', () => {
    const { relay, proposed } = bed(b);
    expect(proposed).to.deep.equal([]);
    expect(relay.requests).to.deep.equal([
      { leader: b, requestId, command: Buffer.from('command'), remainingMs: 10_000 },
    ]);
  });

  it('is certain again after a definite refusal, and tries once more with the same bytes', async () => {
    const { relay, clock, delivery } = bed(b);
    clock.advance(1_000);
    await relay.answer(0, { outcome: 'not-applied', reason: 'connection refused' });
    expect(delivery).to.include({ isUncertain: false, reason: 'connection refused' });
    clock.advance(retryMs);
    expect(relay.requests[1]).to.deep.equal({ ...relay.requests[0], remainingMs: 10_000 - 1_000 - retryMs });
  });

  it('stays uncertain after one unknown end, with any later end', async () => {
    const { relay, clock, delivery } = bed(b);
    await relay.answer(0, { outcome: 'unknown', reason: 'reset' });
    clock.advance(retryMs);
    await relay.answer(1, { outcome: 'not-applied', reason: '421' });
    expect(delivery.isUncertain).to.equal(true);
  });

  it('goes to a new leader at once, without waiting for the old one', async () => {
    const { relay, delivery, applied } = bed(b);
    delivery.leaderChanged(c);
    expect(relay.requests.map(({ leader }) => leader)).to.deep.equal([b, c]);
    await relay.answer(0, { outcome: 'not-applied', reason: 'late' });
    expect(delivery.isUncertain).to.equal(true);
    const result = { index: 9, status: 201, kind: 'routes', id: 'r' } as const;
    await relay.answer(1, { outcome: 'applied', index: 9, result });
    expect(applied).to.deep.equal([9]);
  });

  it('stays uncertain of what it gave up for a new leader, though that one refuses', async () => {
    const { relay, delivery } = bed(b);
    delivery.leaderChanged(c);
    await relay.answer(1, { outcome: 'not-applied', reason: 'connection refused' });
    expect(delivery).to.include({ isUncertain: true, isUnderWay: false });
  });

  it('does not repeat what its own log has not answered yet', () => {
    const { delivery, relay } = bed('self');
    delivery.leaderChanged(b);
    expect(relay.requests).to.deep.equal([]);
  });

  it('makes no attempt after its end and leaves no timer behind', async () => {
    const { relay, clock, delivery } = bed(b);
    await relay.answer(0, { outcome: 'not-applied', reason: 'no' });
    delivery.end();
    clock.advance(retryMs);
    expect(relay.requests).to.have.length(1);
    expect(clock.pending).to.equal(0);
  });
});
