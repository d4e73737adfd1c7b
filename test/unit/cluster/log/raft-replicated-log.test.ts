// The log of a cluster of one over its real thread: what is posted to it, and what comes back.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Outcome, RaftOptions } from '../../../../raft/index.ts';
import type { Committed, FromLog } from '../../../../src/cluster/log/log-port.ts';
import { type CheckpointKeeper, RaftLog, type StateAtStart } from '../../../../src/cluster/log/raft-replicated-log.ts';
import { eventually } from '../../../support/eventually.ts';
import { rejection } from '../../../support/rejection.ts';

const nothing = { applied: 0, term: 0 };
const keeper: CheckpointKeeper = { make: () => undefined, install: () => undefined, discard: () => undefined };
const clustered: RaftOptions['cluster'] = {
  bindAddress: '127.0.0.1:0',
  advertiseAddress: '127.0.0.1:1',
  peers: [],
  discovery: undefined,
  clusterToken: undefined,
  tls: undefined,
  autoJoin: 'none',
};

describe('the log of a node', () => {
  let directory: string;
  const opened: RaftLog[] = [];

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sluice-log-'));
  });

  afterEach(async () => {
    for (const log of opened.splice(0)) await log.stop();
    await rm(directory, { recursive: true });
  });

  const open = async (cluster?: RaftOptions['cluster']): Promise<RaftLog> => {
    const raft = {
      directory: join(directory, 'raft'),
      nodeId: 'single',
      clientAddress: '',
      keyFingerprint: '',
      cluster,
    };
    const log = await RaftLog.open({ raft, notices: { notice: () => undefined, warning: () => undefined } });
    opened.push(log);
    return log;
  };

  /** Open, begun, and leading; everything that it says is kept, and every batch counts as applied at once. */
  const lead = async (state: StateAtStart = nothing) => {
    const log = await open();
    const said: FromLog[] = [];
    log.receive((message) => {
      said.push(message);
      if (message.type === 'committed') log.applied(message.batch.last);
    });
    log.begin(state, keeper);
    await eventually(() => expect(said.some((each) => each.type === 'role' && each.role === 'leader')).to.equal(true));
    return { log, said };
  };

  const proposed = (log: RaftLog, text: string): Promise<Outcome> =>
    new Promise((resolve) => log.propose(Buffer.from(text), resolve));

  const commandsIn = (said: readonly FromLog[]): string[] =>
    said
      .filter((message): message is Committed => message.type === 'committed')
      .flatMap(({ batch }) => batch.entries.map(({ payload }) => Buffer.from(payload).toString()));

  it('gives a command an index, hands it over, and keeps it for the next start', async () => {
    const { log, said } = await lead();
    const answered = proposed(log, 'a command');
    await eventually(() => expect(commandsIn(said)).to.deep.equal(['a command']));
    const handed = said.find(
      (message): message is Committed => message.type === 'committed' && message.batch.entries.length > 0,
    );
    expect(await answered).to.deep.equal({ kind: 'committed', index: handed?.batch.entries[0]?.index });
    await log.stop();
    const again = await lead();
    await eventually(() => expect(commandsIn(again.said)).to.deep.equal(['a command']));
    expect(again.log.lastIndex).to.be.at.least(handed?.batch.last ?? 0);
    expect(again.log.clusterId)
      .to.equal(log.clusterId)
      .and.to.match(/^[0-9a-f]{32}$/);
  });

  it('hands over only what the state does not have yet', async () => {
    const { log, said } = await lead();
    void proposed(log, 'applied');
    await eventually(() => expect(commandsIn(said)).to.deep.equal(['applied']));
    const { last = 0, term = 0 } =
      said.filter((message): message is Committed => message.type === 'committed').at(-1)?.batch ?? {};
    await log.stop();
    const again = await lead({ applied: last, term });
    void proposed(again.log, 'new');
    await eventually(() => expect(commandsIn(again.said)).to.deep.equal(['new']));
  });

  it('answers a read with an index that covers what was acknowledged', async () => {
    const { log } = await lead();
    const { index = Number.POSITIVE_INFINITY } = { ...(await proposed(log, 'before')) } as { index?: number };
    expect(await new Promise<number | undefined>((resolve) => log.read(resolve))).to.be.at.least(index);
  });

  it('says by name who leads, and tells its status', async () => {
    const { log, said } = await lead();
    expect(said.filter((message) => message.type === 'role').at(-1)).to.deep.equal({
      type: 'role',
      role: 'leader',
      leader: { nodeId: 'single', address: '' },
      soleVoter: true,
    });
    expect(await log.status()).to.include({ role: 'leader', clusterId: log.clusterId });
    expect(log.clustered).to.equal(false);
  });

  it('refuses, as not applied, what is proposed before it begins', async () => {
    const log = await open();
    expect(await proposed(log, 'too early')).to.deep.equal({ kind: 'notApplied', why: 'not leader' });
    expect(await new Promise((resolve) => log.read(resolve))).to.equal(undefined);
  });

  it('keeps changes of the members apart from proposals', async () => {
    const { log, said } = await lead();
    const { id = '' } = (await log.status()) ?? {};
    const [outcome, answer] = await Promise.all([log.change({ op: 'demote', id }), proposed(log, 'meanwhile')]);
    expect(outcome).to.include({ kind: 'notApplied' });
    expect(answer).to.have.property('index');
    await eventually(() => expect(commandsIn(said)).to.deep.equal(['meanwhile']));
  });

  it('leaves no caller waiting for a change when it stops, and stops once', async () => {
    const log = await open();
    const change = log.change({ op: 'promote', id: 'nobody#1' });
    await Promise.all([log.stop(), log.stop()]);
    expect((await change).kind).to.be.oneOf(['notApplied', 'unknown']);
    expect(await log.status()).to.equal(undefined);
  });

  it('refuses a state whose log is gone in a cluster, and goes on behind it alone', async () => {
    const member = await open(clustered);
    expect(() => member.begin({ applied: 12, term: 3 }, keeper)).to.throw(/ends at index 12 of a log that is gone/);
    await member.stop();
    await rm(join(directory, 'raft'), { recursive: true });
    const { log, said } = await lead({ applied: 12, term: 3 });
    void proposed(log, 'after');
    await eventually(() => expect(commandsIn(said)).to.deep.equal(['after']));
    expect(said.find((message): message is Committed => message.type === 'committed')?.batch.first).to.equal(13);
  });

  it('ends for good when the state is found to be wrong, says so once, and does not open again', async () => {
    const { log, said } = await lead();
    const reasons: string[] = [];
    log.onFailure((reason) => reasons.push(reason));
    log.node.condemn('the state is not what a majority holds');
    await eventually(() => expect(reasons).to.deep.equal(['the state is not what a majority holds']));
    expect(said.at(-1)).to.deep.equal({
      type: 'fatal',
      reason: 'storage failed: the state is not what a majority holds',
    });
    expect(log.failed).to.equal('the state is not what a majority holds');
    await log.stop();
    expect((await rejection(open())).message).to.contain('the state is not what a majority holds');
  });

  it('does not open over what is no directory', async () => {
    await writeFile(join(directory, 'raft'), 'in the way');
    expect((await rejection(open())).message).to.match(/EEXIST|ENOTDIR|not a directory/i);
  });
});
