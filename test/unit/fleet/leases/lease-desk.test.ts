import { expect } from 'chai';
import { SluiceError } from '../../../../src/errors.ts';
import { LeaseDesk } from '../../../../src/fleet/leases/lease-desk.ts';
import { type FleetPeer, fleetRequestOf } from '../../../../src/fleet/peer-requests.ts';
import { streamToken } from '../../../../src/fleet/stream-token.ts';
import { eventually } from '../../../support/eventually.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const limit = { id: 'l', requestsPerSecond: 0.001, burst: 100 };
const line = { key: 'k', share: 0, level: 0, back: 0, want: 0, used: 0 };

const codeOf = async (asked: Promise<unknown>): Promise<string> => {
  try {
    await asked;
  } catch (error) {
    if (error instanceof SluiceError) return error.code;
  }
  return 'none';
};

describe('the desks of leases of a cluster', () => {
  const names = ['a', 'b', 'c'] as const;
  let clock: ManualClock;
  let desks: Map<string, LeaseDesk>;
  let dead: Set<string>;
  let seq: number;

  beforeEach(() => {
    clock = new ManualClock();
    dead = new Set();
    seq = 0;
    desks = new Map(names.map((nodeId) => [nodeId, deskOf(nodeId)]));
    lead('a', 1);
  });

  const deskOf = (nodeId: string): LeaseDesk =>
    new LeaseDesk({
      nodeId,
      holderOf: (token) => (token === tokenOf(nodeId) ? `proxy of ${nodeId}` : undefined),
      isLive: () => false,
      peers: async () => names.filter((name) => name !== nodeId).map(peer),
      limits: () => ['l'],
      clock,
    });

  const tokenOf = (nodeId: string): string => streamToken(nodeId, 'abcdefgh');
  const desk = (name: string): LeaseDesk => desks.get(name) ?? deskOf(name);

  /** As over the wire: what cannot be read, and what throws, is no answer. */
  const peer = (nodeId: string): FleetPeer => ({
    nodeId,
    async ask(question) {
      if (dead.has(nodeId)) return undefined;
      const asked = fleetRequestOf(JSON.parse(JSON.stringify(question)));
      const own = desk(nodeId);
      try {
        if (asked.op === 'lease') return own.lead(asked.holder, asked.report);
        if (asked.op === 'leases') return await own.takeForPeer(asked.message);
        if (asked.op === 'leaseLedger') return own.copy(asked.term);
        return {};
      } catch {
        return undefined;
      }
    },
  });

  const lead = (leader: string, term: number): void => {
    for (const name of names) desk(name).stands({ leads: name === leader, term, leader });
  };

  const report = (more: Partial<typeof line>, key = 'k') => ({
    seq: ++seq,
    limits: [{ ...limit, keys: [{ ...line, ...more, key }] }],
  });

  const ask = async (from: string, more: Partial<typeof line>, key = 'k') => {
    const reply = await desk(from).take({ token: tokenOf(from), boot: 'boot', ...report(more, key) });
    return reply.limits[0]?.keys[0];
  };

  it('take reports at any node, for streams of any node, to the leader', async () => {
    desk('a').stands({ leads: true, term: 1, leader: 'a' });
    clock.advance(3_000);
    expect(await ask('b', { want: 1 }, 'x')).to.include({ key: 'x' });
    const passed = await desk('c').take({ token: tokenOf('b'), boot: 'boot', ...report({ want: 1 }, 'y') });
    expect(passed.limits[0]?.keys[0]).to.include({ key: 'y' });
    expect(desk('a').size).to.deep.equal({ budgets: 2, holders: 1 });
    expect([desk('b').size, desk('c').size]).to.deep.equal([undefined, undefined]);
  });

  it('refuse streams that no node holds, and answer nothing without a leader', async () => {
    const unknown = desk('a').take({ token: streamToken('a', 'zyxwvuts'), boot: 'boot', ...report({}) });
    expect(await codeOf(unknown)).to.equal('CONFLICT');
    const elsewhere = desk('a').take({ token: streamToken('z', 'zyxwvuts'), boot: 'boot', ...report({}) });
    expect(await codeOf(elsewhere)).to.equal('CONFLICT');
    dead.add('a');
    expect(await codeOf(ask('b', {}))).to.equal('UNAVAILABLE');
    for (const name of names) desk(name).stands({ leads: false, term: 2, leader: undefined });
    expect(await codeOf(ask('b', {}))).to.equal('UNAVAILABLE');
  });

  const tokensOf = async (from: string, key: string): Promise<number> =>
    (await ask(from, { want: 100 }, key))?.grant ?? 0;

  it('go on with the ledger of a leader that has handed over: nothing is given twice, and nothing is lost', async () => {
    clock.advance(100_000_000);
    expect((await ask('b', { want: 30 }, 'used'))?.grant).to.equal(60);
    await ask('b', { share: 0, back: 40 }, 'used');
    lead('c', 2);
    await eventually(() => expect(desk('c').size?.budgets).to.equal(1));
    expect(await tokensOf('b', 'used')).to.equal(0);
    clock.advance(3_000);
    expect(await tokensOf('b', 'used')).to.be.closeTo(80, 0.1);
    expect(await tokensOf('b', 'unused')).to.equal(100);
  });

  it('begin empty after a leader that is dead', async () => {
    clock.advance(100_000_000);
    dead.add('a');
    lead('c', 2);
    for (let step = 0; step < 16; step++) {
      clock.advance(200);
      await new Promise(setImmediate);
    }
    expect(await tokensOf('b', 'unused')).to.be.below(1);
  });

  it('keep their ledger when the same node leads again', async () => {
    clock.advance(100_000_000);
    await ask('b', { want: 30 }, 'used');
    lead('a', 5);
    expect(await tokensOf('c', 'used')).to.be.closeTo(40, 0.1);
  });

  it('show the ledger of a term to the next leader alone', () => {
    expect(desk('a').copy(1), 'while it leads').to.deep.equal({});
    lead('b', 2);
    expect(desk('a').copy(2)).to.deep.equal({});
    expect(desk('a').copy(1)).to.deep.equal({ limits: [] });
  });
});
