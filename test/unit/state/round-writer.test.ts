// Round writer: rounds are shown before they are in the store, which follows the log, and the log gives again what a
// crash takes away of it. The configuration for proxies waits for the store.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Command } from '../../../src/state/command.ts';
import { type AppliedRound, DurableState } from '../../../src/state/durable-state.ts';
import { MemoryStore } from '../../../src/state/memory-store.ts';
import type { Change, Mark, Store } from '../../../src/state/store.ts';
import { activate, capture, put, remove } from '../../support/commands.ts';
import { cuts, LosingDisk } from '../../support/losing-store.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { rejection } from '../../support/rejection.ts';
import { contentOf } from '../../support/store-content.ts';

const delayMs = 100;
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A store whose writes take until the test ends them. */
class SlowStore extends MemoryStore {
  readonly begun: { readonly keys: readonly string[]; readonly mark: Mark; readonly end: (error?: Error) => void }[] =
    [];
  isSlow = false;

  /** Loses all of its rows. */
  async forget(): Promise<void> {
    const changes: Change[] = [];
    for await (const [key] of this.rows()) changes.push({ key, value: undefined });
    await super.write(changes, { applied: 0, hash: '0'.repeat(16), boot: 1 });
  }

  override async write(changes: readonly Change[], mark: Mark): Promise<void> {
    if (this.isSlow) {
      const keys = changes.map(({ key }) => key);
      await new Promise<void>((resolve, reject) => {
        this.begun.push({ keys, mark, end: (error) => (error === undefined ? resolve() : reject(error)) });
      });
    }
    await super.write(changes, mark);
  }
}

async function open(store: Store, clock = new ManualClock()) {
  const state = await DurableState.open(store, { randomBytes, behind: { clock, delayMs } });
  return { state, clock };
}

async function slow() {
  const store = new SlowStore();
  const { state, clock } = await open(store);
  store.isSlow = true;
  return { store, state, clock };
}

const apply = (state: DurableState, command: Command, index = state.view.applied + 1) =>
  state.apply([{ index, payload: state.encode(command) }], index, { term: 1, time: index });

const mark = (state: DurableState): Mark => ({
  applied: state.view.applied,
  hash: state.view.hash,
  boot: state.identity.boot,
});

describe('the store behind the log', () => {
  it('shows a round before it is written, and writes what has gathered after a while', async () => {
    const { store, state, clock } = await slow();
    for (const id of ['a', 'b', 'c']) await apply(state, put('routes', id));
    expect(state.view.list('routes')).to.have.length(3);
    expect(store.begun).to.be.empty;
    clock.advance(delayMs);
    await turn();
    const [write, ...more] = store.begun;
    expect(more).to.be.empty;
    expect(write?.mark).to.deep.equal(mark(state));
    expect(new Set(write?.keys).size, 'each row once').to.equal(write?.keys.length);
  });

  it('makes a write that the system rejected again, in files opened anew, and says so meanwhile', async () => {
    const { store, state, clock } = await slow();
    const told: (string | undefined)[] = [];
    state.onWaits((problem) => told.push(problem?.reason));
    await apply(state, put('routes', 'a'));
    clock.advance(delayMs);
    await turn();
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC', errno: -28 });
    store.begun[0]?.end(full);
    await turn();
    expect(state.waits?.kind).to.equal('rejected');
    expect(told[0]).to.match(/memory was rejected and is tried again: no space left/);
    await apply(state, put('routes', 'b'));
    expect(state.view.list('routes')).to.have.length(2);
    clock.advance(1_000);
    await turn();
    store.begun[1]?.end();
    await turn();
    expect(state.waits).to.equal(undefined);
    expect(told.at(-1)).to.equal(undefined);
    expect(state.failed).to.equal(undefined);
    const closing = state.close();
    await turn();
    for (const { end } of store.begun) end();
    await closing;
    store.isSlow = false;
    const opened = await open(store);
    expect(opened.state.view.list('routes')).to.have.length(2);
  });

  it('fails for good where the store that was opened anew has lost what was written', async () => {
    const { store, state, clock } = await slow();
    await apply(state, put('routes', 'a'));
    clock.advance(delayMs);
    await turn();
    store.begun[0]?.end();
    await turn();
    await apply(state, put('routes', 'b'));
    clock.advance(delayMs);
    await turn();
    store.reopen = async () => store.forget();
    store.begun[1]?.end(Object.assign(new Error('input/output error'), { code: 'EIO', errno: -5 }));
    await turn();
    clock.advance(1_000);
    await turn();
    expect(state.failed).to.match(/storage failed: .*index 1 was written, but it ends at 0/);
  });

  it('calls a write late that takes seconds, and is well again when it ends', async () => {
    const { store, state, clock } = await slow();
    await apply(state, put('routes', 'a'));
    clock.advance(delayMs);
    await turn();
    clock.advance(3_000);
    expect(state.waits?.reason).to.equal('a write to memory has been under way for more than 3 s');
    store.begun[0]?.end();
    await turn();
    expect([state.waits, state.failed]).to.deep.equal([undefined, undefined]);
  });

  it('gathers what comes during a write for the next one', async () => {
    const { store, state, clock } = await slow();
    await apply(state, put('routes', 'a'));
    clock.advance(delayMs);
    await turn();
    await apply(state, put('routes', 'b'));
    const closing = state.close();
    store.begun[0]?.end();
    await turn();
    expect(store.begun.map(({ mark: { applied } }) => applied)).to.deep.equal([1, 2]);
    store.begun[1]?.end();
    await closing;
    expect(contentOf((await open(store.isSlow ? unhurried(store) : store)).state.view)).to.equal(contentOf(state.view));
  });

  it('is told nothing of a result that was forgotten before it was to be written, and that it goes if it was written', async () => {
    const { store, state, clock } = await slow();
    const request = (seq: number) => ({ requestId: { seq, ackedBelow: seq } });
    for (const seq of [1, 2, 3]) await apply(state, put('routes', `a${seq}`, {}, request(seq)));
    clock.advance(delayMs);
    await turn();
    const results = () => store.begun.map(({ keys }) => keys.filter((key) => key.startsWith('r/')));
    expect(results()).to.deep.equal([['r/n1/7/1/3']]);
    for (const seq of [4, 5]) await apply(state, put('routes', `a${seq}`, {}, request(seq)));
    store.begun[0]?.end();
    await turn();
    clock.advance(delayMs);
    await turn();
    expect(results()[1]).to.have.members(['r/n1/7/1/3', 'r/n1/7/1/5']);
    store.isSlow = false;
    store.begun[1]?.end();
    await state.close();
    expect(contentOf((await open(store)).state.view)).to.equal(contentOf(state.view));
  });

  it('shows an activation when it is in the store, with all before it', async () => {
    const { store, state } = await slow();
    await apply(state, put('routes', 'a'));
    await apply(state, capture('s', { checkedAt: 1 }));
    const activation = apply(state, activate('s'));
    await turn();
    expect(state.view.active).to.equal(undefined);
    expect(store.begun.map(({ mark: { applied } }) => applied)).to.deep.equal([3]);
    store.begun[0]?.end();
    expect((await activation).activation?.index).to.equal(3);
    expect(state.view.active?.snapshotId).to.equal('s');
  });

  it('writes at once what is large, and holds the next round when a slow disk leaves too much', async () => {
    const { store, state } = await slow();
    const megabytes = (count: number) => ({ text: 'x'.repeat(count * 1024 * 1024) });
    await apply(state, put('routes', 'a', megabytes(2)));
    await turn();
    expect(store.begun).to.have.length(1);
    for (let at = 0; at < 5; at++) await apply(state, put('routes', `b${at}`, megabytes(3)));
    let isHeld = true;
    const held = apply(state, put('routes', 'c', megabytes(3))).then(() => (isHeld = false));
    await turn();
    expect(isHeld).to.equal(true);
    store.isSlow = false;
    store.begun[0]?.end();
    await held;
  });

  it('has in an image everything that is shown', async () => {
    const { store, state } = await slow();
    await apply(state, put('routes', 'a'));
    const image = state.image();
    await turn();
    store.begun[0]?.end();
    expect((await image).index).to.equal(1);
  });

  it('ends with the first write that fails, for each waiter', async () => {
    for (const end of ['by itself', 'an image', 'a stop'] as const) {
      const { store, state, clock } = await slow();
      const reasons: string[] = [];
      state.onFailure((reason) => reasons.push(reason));
      await apply(state, put('routes', 'a'));
      const waits = end === 'by itself' ? undefined : rejection(end === 'an image' ? state.image() : state.close());
      if (waits === undefined) clock.advance(delayMs);
      await turn();
      store.begun[0]?.end(new Error('no space left on device'));
      await waits;
      await turn();
      expect(reasons, end).to.deep.equal(['storage failed: no space left on device']);
      expect((await rejection(apply(state, put('routes', 'b')))).message).to.equal(reasons[0]);
      expect(store.begun).to.have.length(1);
    }
  });

  it('leaves a replaced store, with any outcome of its last write', async () => {
    const { store, state, clock } = await slow();
    await apply(state, put('routes', 'a'));
    clock.advance(delayMs);
    await turn();
    await apply(state, put('routes', 'b'));
    const other = await open(new MemoryStore());
    await apply(other.state, put('routes', 'c'));
    const { content } = await other.state.image();
    const successor = await state.build(new MemoryStore(), content, { randomBytes });
    const adopting = state.adopt(successor);
    store.begun[0]?.end(new Error('no space left on device'));
    await adopting;
    expect(state.failed).to.equal(undefined);
    clock.advance(delayMs);
    await turn();
    expect(store.begun).to.have.length(1);
    expect(state.view.list('routes').map(({ id }) => id)).to.deep.equal(['c']);
    await apply(state, put('routes', 'd'));
  });

  /** `pauses[n]`: the delay is over after the n-th command. */
  const scene = fc.record({
    commands: fc.array(fc.constantFrom('put', 'remove', 'capture', 'activate'), { minLength: 1, maxLength: 12 }),
    pauses: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
    crashAt: fc.integer({ min: 2, max: 8 }),
    cut: fc.constantFrom(...cuts),
  });

  function commandsOf(names: readonly string[]): Command[] {
    return names.map((name, at) => {
      if (name === 'put') return put('routes', `r${at % 3}`);
      if (name === 'remove') return remove('routes', `r${at % 3}`);
      return name === 'capture' ? capture(`s${at}`, { checkedAt: at }) : activate(`s${at - 1}`);
    });
  }

  it('is after any crash as it was after some round, not before the last activation, and the log makes it whole', async () => {
    await fc.assert(
      fc.asyncProperty(scene, async ({ commands: names, pauses, crashAt, cut }) => {
        const commands = commandsOf(names);
        const expected = await contents(commands);
        const disk = new LosingDisk();
        disk.crashAt(crashAt, cut);
        const { state, clock } = await open(disk.open());
        let shown: AppliedRound | undefined;
        let activated = 0;
        for (const [at, command] of commands.entries()) {
          shown = undefined;
          void apply(state, command).then((round) => (shown = round));
          await turn();
          if (shown === undefined) break;
          activated = activationIn(shown) ?? activated;
          if (pauses[at]) clock.advance(delayMs);
          await turn();
        }
        disk.crashAt(never, cut);
        const after = (await open(disk.open())).state;
        const { applied } = after.view;
        expect(applied).to.be.at.least(activated);
        expect(contentOf(after.view)).to.equal(expected[applied]);
        for (let at = applied; at < commands.length; at++) await apply(after, commands[at]!);
        expect(contentOf(after.view)).to.equal(expected.at(-1));
      }),
      { numRuns: 60 },
    );
  });
});

const never = -1;

const activationIn = ({ activation }: AppliedRound): number | undefined => activation?.index;

/** After each index, without a crash and written round by round. */
async function contents(commands: readonly Command[]): Promise<string[]> {
  const state = await DurableState.open(new MemoryStore(), { randomBytes });
  const all = [contentOf(state.view)];
  for (const command of commands) {
    await apply(state, command);
    all.push(contentOf(state.view));
  }
  return all;
}

function unhurried(store: SlowStore): Store {
  store.isSlow = false;
  return store;
}
