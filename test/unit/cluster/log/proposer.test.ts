import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { commandBytesMax, type Outcome } from '../../../../raft/index.ts';
import { retryMs } from '../../../../src/cluster/log/delivery.ts';
import type { FromLog, LogPort } from '../../../../src/cluster/log/log-port.ts';
import { inFlightMax } from '../../../../src/cluster/log/pending-proposals.ts';
import { Proposer } from '../../../../src/cluster/log/proposer.ts';
import { deadlineMs } from '../../../../src/cluster/write-deadline.ts';
import { SluiceError } from '../../../../src/errors.ts';
import type { Command } from '../../../../src/state/command.ts';
import { decodeCommand } from '../../../../src/state/command-codec.ts';
import { generationDirectory, LevelStore } from '../../../../src/state/level-store.ts';
import { SpecText } from '../../../../src/state/spec-text.ts';
import { LocalLog } from '../../../support/local-log.ts';
import { LosingDisk } from '../../../support/losing-store.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { nodeOfOne, routeDraft } from '../../../support/node-of-one.ts';
import { rejection } from '../../../support/rejection.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function refusal(promise: Promise<unknown>): Promise<SluiceError> {
  const error = await rejection(promise);
  if (!(error instanceof SluiceError)) throw error;
  return error;
}

/** A log that answers nothing by itself: the test plays it. */
class SilentPort implements LogPort {
  readonly proposed: { bytes: Uint8Array; command: Command; ended: (outcome: Outcome) => void }[] = [];
  stops = 0;
  /** Given to every proposal, when there is one. */
  refusal: Outcome | undefined;
  send: (message: FromLog) => void = () => undefined;

  propose(bytes: Uint8Array, ended: (outcome: Outcome) => void): void {
    const command = decodeCommand(bytes);
    if (command.op !== 'malformed') this.proposed.push({ bytes, command, ended });
    const refused = this.refusal;
    if (refused !== undefined) queueMicrotask(() => ended(refused));
  }

  read(): void {}

  applied(): void {}

  stop(): void {
    this.stops += 1;
  }

  receive(receiver: (message: FromLog) => void): void {
    this.send = receiver;
  }
}

/** First command of a log. */
function committed(payload: Uint8Array = new Uint8Array()): FromLog {
  const entry = { kind: 'command', index: 1, term: 1, time: 0, payload } as const;
  return { type: 'committed', batch: { first: 1, last: 1, term: 1, logTime: 0, entries: [entry], bytes: 0 } };
}

async function nodeWithPort() {
  const port = new SilentPort();
  const clock = new ManualClock();
  const { state } = await nodeOfOne({ clock });
  return { port, clock, state, log: new Proposer({ port, state, clock, nodeId: 'n1' }) };
}

describe('Proposer on one node', () => {
  it('answers a write once it is applied and visible', async () => {
    const { log, state } = await nodeOfOne();
    const result = await log.propose(routeDraft('a'));
    expect(result).to.deep.equal({ index: 1, status: 201, kind: 'routes', id: 'a' });
    expect(state.view.get('routes', 'a')?.revision).to.equal(1);
  });

  it('gives each command the next index', async () => {
    const { log } = await nodeOfOne();
    const results = await Promise.all(['a', 'b', 'a'].map((id) => log.propose(routeDraft(id))));
    expect(results.map(({ index, status }) => [index, status])).to.deep.equal([
      [1, 201],
      [2, 201],
      [3, 409],
    ]);
  });

  it('goes on after a restart where it ended', async () => {
    const storePath = await mkdtemp(join(tmpdir(), 'sluice-'));
    const directory = generationDirectory(storePath, 0);
    try {
      const first = await nodeOfOne({ store: await LevelStore.open(directory) });
      await first.log.propose(routeDraft('a'));
      const { hash } = first.state.view;
      await first.close();
      const second = await nodeOfOne({ store: await LevelStore.open(directory) });
      expect(second.state.view).to.include({ applied: 1, changedAt: 1, hash });
      expect(second.state.identity).to.deep.equal({ ...first.state.identity, boot: 2 });
      expect(second.state.view.list('routes').map(({ json }) => json)).to.deep.equal(['{"id":"a","name":"a"}']);
      expect(await second.log.propose(routeDraft('b'))).to.include({ index: 2, status: 201 });
      await second.close();
    } finally {
      await rm(storePath, { recursive: true });
    }
  });
});

describe('a command that no entry of the log can hold', () => {
  const spec = new SpecText({ id: 'a', name: 'a', text: 'x'.repeat(commandBytesMax) });

  it('is refused for good before it is proposed, and names its size', async () => {
    const { log, port } = await nodeWithPort();
    const error = await refusal(log.propose({ op: 'put', kind: 'routes', id: 'a', mode: 'create', spec }));
    expect(error.status).to.equal(413);
    expect(error.message).to.match(/^the write takes 4194\d{4} bytes of the log, which takes 4456448 at once$/);
    expect(port.proposed).to.deep.equal([]);
  });

  it('names the references of a snapshot, whose request is small', async () => {
    const { log } = await nodeWithPort();
    const createdAt = '2026-01-01T00:00:00.000Z';
    const values = { '{{secret:file:/large}}': 'x'.repeat(commandBytesMax) };
    const error = await refusal(log.propose({ op: 'capture', id: 's', name: 's', createdAt, checkedAt: 0, values }));
    expect(error.status).to.equal(413);
    expect(error.message).to.contain('the snapshot with the values of its env and file references takes');
  });
});

describe('Proposer and its log', () => {
  it('names each request once and says what is answered', async () => {
    const { log, port, state } = await nodeWithPort();
    const first = log.propose(routeDraft('a'));
    void log.propose(routeDraft('b'));
    const [a] = port.proposed;
    port.send(committed(a?.bytes));
    await first;
    void log.propose(routeDraft('c'));
    const { incarnation, boot } = state.identity;
    const id = { origin: 'n1', incarnation, boot };
    expect(port.proposed.map(({ command }) => command.requestId)).to.deep.equal([
      { ...id, seq: 1, ackedBelow: 1 },
      { ...id, seq: 2, ackedBelow: 1 },
      { ...id, seq: 3, ackedBelow: 2 },
    ]);
  });

  it('stamps a command with the clock', async () => {
    const { log, port, clock } = await nodeWithPort();
    clock.advance(1_234);
    void log.propose(routeDraft('a'));
    expect(port.proposed[0]?.command).to.deep.include({ v: 1, time: clock.nowMs() });
  });

  it('does not answer by an index alone, only when this node has applied', async () => {
    const { log, port } = await nodeWithPort();
    let answered = false;
    void log.propose(routeDraft('a')).then(() => (answered = true));
    const [a] = port.proposed;
    a?.ended({ kind: 'committed', index: 1 });
    await turn();
    expect(answered).to.equal(false);
    port.send(committed(a?.bytes));
    await turn();
    expect(answered).to.equal(true);
  });

  it('says 504 with the request when its outcome cannot be known', async () => {
    const { log, port, clock, state } = await nodeWithPort();
    const late = log.propose(routeDraft('a'));
    clock.advance(deadlineMs);
    const { incarnation } = state.identity;
    const timedOut = await refusal(late);
    expect(timedOut.code).to.equal('OUTCOME_UNKNOWN');
    expect(timedOut.details.body).to.deep.equal({ requestId: `n1-${incarnation}-1-1`, outcome: 'unknown' });
    const unknown = log.propose(routeDraft('b'));
    port.proposed[1]?.ended({ kind: 'unknown', why: 'stepped down' });
    clock.advance(deadlineMs);
    expect((await refusal(unknown)).status).to.equal(504);
  });

  it('says 503 when it is certain that a write was not applied', async () => {
    const { log, port, clock } = await nodeWithPort();
    port.refusal = { kind: 'notApplied', why: 'not leader' };
    const refused = refusal(log.propose(routeDraft('a')));
    for (let waited = 0; waited < deadlineMs; waited += retryMs) {
      await turn();
      clock.advance(retryMs);
    }
    const error = await refused;
    expect(error).to.include({ code: 'UNAVAILABLE', message: 'not leader' });
  });

  it('says 503 at once where the disk is full and no other node can lead, and tries on where one may', async () => {
    for (const soleVoter of [true, false]) {
      const { log, port, clock } = await nodeWithPort();
      port.send({ type: 'role', role: 'leader', leader: { nodeId: 'n1', address: '' }, soleVoter });
      port.refusal = { kind: 'notApplied', why: 'disk full' };
      let error: SluiceError | undefined;
      const refused = refusal(log.propose(routeDraft('a'))).then((found) => {
        error = found;
      });
      await turn();
      if (soleVoter) expect(error).to.include({ code: 'UNAVAILABLE', message: 'disk full' });
      else expect(error).to.equal(undefined);
      clock.advance(retryMs);
      expect(port.proposed).to.have.lengthOf(soleVoter ? 1 : 2);
      for (let waited = retryMs; waited < deadlineMs; waited += retryMs) {
        await turn();
        clock.advance(retryMs);
      }
      await refused;
      expect(error).to.include({ code: 'UNAVAILABLE', message: 'disk full' });
    }
  });

  it('leaves no timer behind', async () => {
    const clock = new ManualClock();
    const { log } = await nodeOfOne({ clock });
    await log.propose(routeDraft('a'));
    await log.readBarrier();
    await log.appliedAtLeast(1, 1_000);
    expect(clock.pending).to.equal(0);
  });

  it('takes no more writes than results are kept for', async () => {
    const { log } = await nodeWithPort();
    for (let at = 0; at < inFlightMax; at++) void log.propose(routeDraft(`r${at}`));
    expect(await refusal(log.propose(routeDraft('one-more')))).to.include({
      code: 'UNAVAILABLE',
      message: 'too many writes are waiting',
    });
  });

  it('refuses everything once the log is gone', async () => {
    const { log, port } = await nodeWithPort();
    const pending = log.propose(routeDraft('a'));
    const read = log.readBarrier();
    port.send({ type: 'fatal', reason: 'storage failed: no space' });
    expect((await refusal(pending)).code).to.equal('OUTCOME_UNKNOWN');
    for (const promise of [read, log.propose(routeDraft('b')), log.readBarrier(), log.appliedAtLeast(9, 1)]) {
      expect(await refusal(promise)).to.include({ code: 'UNAVAILABLE', message: 'storage failed: no space' });
    }
  });
});

describe('Proposer of a node that was removed from its cluster', () => {
  const reason = 'this node was removed';

  it('refuses reads and writes at once and says why, and has no node to follow', async () => {
    const { log, port } = await nodeWithPort();
    port.send({ type: 'role', role: 'follower', leader: { nodeId: 'n2', address: '' }, soleVoter: false });
    expect(log.hasLeader).to.equal(true);
    const underWay = refusal(log.readBarrier());
    port.send({ type: 'removed', reason });
    const asked = [log.readBarrier(), log.propose(routeDraft('a')), log.appliedAtLeast(1, deadlineMs)];
    for (const { status, message } of await Promise.all([underWay, ...asked.map(refusal)])) {
      expect({ status, message }).to.deep.equal({ status: 503, message: reason });
    }
    expect(port.proposed).to.deep.equal([]);
    expect(log).to.include({ hasLeader: false, failed: undefined });
  });

  it('shows what it has', async () => {
    const { log, port, state } = await nodeWithPort();
    port.send({ type: 'removed', reason });
    await log.appliedAtLeast(state.view.applied, deadlineMs);
  });
});

describe('Proposer of the leader, with a relayed write', () => {
  it('applies the command that the relay has decoded, without another decoding', async () => {
    const { log, state } = await nodeOfOne();
    await turn();
    const requestId = { origin: 'n2', incarnation: 7, boot: 1, seq: 1, ackedBelow: 1 };
    const command = state.encode({ ...routeDraft('a'), v: 1, requestId, time: 1 } as Command);
    const decoded = state.decode(command) as Command;
    let decodings = 0;
    const { decode } = state;
    state.decode = (bytes) => {
      decodings++;
      return decode.call(state, bytes);
    };
    const outcome = await log.receive({ requestId, command, decoded, remainingMs: 1_000 });
    expect(outcome.outcome).to.equal('applied');
    expect(state.view.get('routes', 'a')?.name).to.equal('a');
    expect(decodings).to.equal(0);
    await log.propose(routeDraft('b'));
    expect(decodings).to.equal(1);
  });
});

describe('Proposer, order of events', () => {
  it('writes and shows, then answers and publishes in one turn, then acknowledges', async () => {
    const clock = new ManualClock();
    const disk = new LosingDisk();
    const { state } = await nodeOfOne({ store: disk.open(), clock });
    const port = new LocalLog({ nodeId: 'single', applied: 0, clock });
    const events: string[] = [];
    const seen = (event: string) => events.push(`${event} at ${state.view.applied}, writes ${disk.writes}`);
    const watched: LogPort = {
      propose: (bytes, ended) => port.propose(bytes, ended),
      read: (answered) => port.read(answered),
      applied(index) {
        seen('acknowledged');
        port.applied(index);
      },
      stop: () => port.stop(),
      receive: (receiver) => port.receive(receiver),
    };
    const log = new Proposer({ port: watched, state, clock, nodeId: 'single' });
    log.onActivation(({ index, snapshot }) => seen(`published ${snapshot.id} of ${index}`));
    const createdAt = '2026-01-01T00:00:00.000Z';
    const captured = log.propose({ op: 'capture', id: 's', name: 's', createdAt, checkedAt: 0, values: {} });
    const activated = log.propose({ op: 'activate', id: 's' });
    void captured.then(() => seen('answered'));
    await activated;
    await turn();
    expect(events).to.deep.equal([
      'published s of 2 at 2, writes 2',
      'acknowledged at 2, writes 2',
      'answered at 2, writes 2',
    ]);
  });

  it('merges what arrives while a batch is written into the next one', async () => {
    const disk = new LosingDisk();
    const { log } = await nodeOfOne({ store: disk.open() });
    const drafts = Array.from({ length: 300 }, (_, at) => routeDraft(`r${at}`));
    await Promise.all(drafts.map((draft) => log.propose(draft)));
    // One at the start, then at most 256 in a batch.
    expect(disk.writes).to.equal(1 + 2);
  });

  it('reads at what was acknowledged before the call', async () => {
    const { log, state } = await nodeOfOne();
    const writes = ['a', 'b'].map((id) => log.propose(routeDraft(id)));
    await writes[0];
    expect(await log.readBarrier()).to.be.at.least(1);
    await Promise.all(writes);
    expect(await log.readBarrier()).to.equal(2);
    expect(state.view.applied).to.equal(2);
  });

  it('waits for an index, and not for ever', async () => {
    const clock = new ManualClock();
    const { log } = await nodeOfOne({ clock });
    const waiting = log.appliedAtLeast(2, 100);
    await log.propose(routeDraft('a'));
    const late = refusal(log.appliedAtLeast(3, 50));
    await log.propose(routeDraft('b'));
    await waiting;
    clock.advance(50);
    expect(await late).to.include({ code: 'UNAVAILABLE' });
  });
});

describe('Proposer when storage fails', () => {
  const full = new Error('no space left on device');

  it('keeps reading what is there and refuses every later write and linearizable read', async () => {
    const disk = new LosingDisk();
    const { log, state } = await nodeOfOne({ store: disk.open() });
    await log.propose(routeDraft('a'));
    disk.failAt(3, full);
    const reasons: string[] = [];
    state.onFailure((reason) => reasons.push(reason));
    const failing = await refusal(log.propose(routeDraft('b')));
    expect(failing).to.include({ code: 'OUTCOME_UNKNOWN', message: 'storage failed: no space left on device' });
    for (const promise of [log.propose(routeDraft('c')), log.readBarrier(), log.appliedAtLeast(2, 1)]) {
      expect(await refusal(promise)).to.include({
        code: 'UNAVAILABLE',
        message: 'storage failed: no space left on device',
      });
    }
    expect(reasons).to.deep.equal(['storage failed: no space left on device']);
    expect(state.failed).to.equal(reasons[0]);
    expect(state.view.list('routes').map(({ id }) => id)).to.deep.equal(['a']);
    expect(disk.writes).to.equal(3);
    await log.appliedAtLeast(1, 1);
  });

  it('says of the writes behind the failed batch that they were not applied', async () => {
    const disk = new LosingDisk();
    const { log } = await nodeOfOne({ store: disk.open() });
    disk.failAt(2, full);
    const first = refusal(log.propose(routeDraft('a')));
    await Promise.resolve();
    const behind = refusal(log.propose(routeDraft('b')));
    expect((await first).code).to.equal('OUTCOME_UNKNOWN');
    expect(await behind).to.include({ code: 'UNAVAILABLE', message: 'storage failed: no space left on device' });
  });

  it('stops at a command of a newer program, before anything is written', async () => {
    const disk = new LosingDisk();
    const { state } = await nodeOfOne({ store: disk.open() });
    const bytes = Buffer.from('{"v":1,"op":"rename"}');
    await rejection(state.apply([{ index: 1, payload: bytes }], 1));
    expect(state.failed).to.equal('the log holds what this program does not understand: command "rename"');
    expect(disk.writes).to.equal(1);
  });
});

describe('Proposer, stopping', () => {
  it('answers what is under way and refuses the rest', async () => {
    const { log, state } = await nodeOfOne();
    const pending = log.propose(routeDraft('a'));
    const stopped = log.stop();
    expect(await refusal(log.propose(routeDraft('b')))).to.include({ code: 'UNAVAILABLE', message: 'shutting down' });
    expect(await pending).to.include({ status: 201 });
    await stopped;
    expect(state.view.applied).to.equal(1);
  });

  it('stops once, and tells everyone who asks when it has', async () => {
    const { port, clock, log } = await nodeWithPort();
    const pending = refusal(log.propose(routeDraft('a')));
    const stops = [log.stop(), log.stop()];
    clock.advance(deadlineMs);
    expect((await pending).code).to.equal('OUTCOME_UNKNOWN');
    await Promise.all(stops);
    await log.stop();
    expect(port.stops).to.equal(1);
  });
});
