// Ledger of the cluster, worked out a second time from the log by the slow model: the state after each index, the node
// of each decision, and the content that every answer must have.
import type { CommandEntry, Committed } from '../../../raft/index.ts';
import type { Operation } from '../../../raft/testing/history/history.ts';
import { configKinds, editableKinds } from '../../../src/model/kinds.ts';
import type { Result } from '../../../src/state/command.ts';
import { decodeCommand } from '../../../src/state/command-codec.ts';
import type { StateView } from '../../../src/state/view.ts';
import { type Decision, SlowModel } from '../../support/slow-model.ts';

/** Every command of the simulation says whose wish it is; a repetition of the same wish says the same. */
export interface Tagged {
  readonly tag: number;
  /** True when it may be asked for again under another request id, because it has an Idempotency-Key. */
  readonly isRepeatable: boolean;
}

const hour = 3_600_000;
const succeeded: readonly Result['status'][] = [200, 201, 204];

export class Ledger {
  readonly #fail: (rule: string, detail: string) => void;
  readonly #model = new SlowModel();
  /** `#contents[index]` is what a reader sees at that index. */
  readonly #contents: string[] = [contentOf(new SlowModel())];
  readonly #hashes = new Map<number, string>();
  readonly #decisions = new Map<number, Decision[]>();
  readonly #requests = new Map<number, string>();
  /** `#log[index - 1]` is the wish that was decided at that index; 0: none. */
  readonly #log: number[] = [];

  constructor(fail: (rule: string, detail: string) => void) {
    this.#fail = fail;
  }

  /** Log time at which each write was in the log first. */
  readonly #firstAt = new Map<number, number>();
  #logTime = 0;
  /** Writes that were in the log once more, under the same request id or under the same key. */
  repeats = 0;
  /** Count of repeats an hour of log time or more after the first time. */
  repeatsHoursApart = 0;

  get last(): number {
    return this.#log.length;
  }

  /** Takes entries from the node that hands them to its state machine first. */
  committed({ last, entries }: Committed): void {
    const commands = new Map(entries.map((entry) => [entry.index, entry]));
    for (let index = this.last + 1; index <= last; index += 1) {
      const entry = commands.get(index);
      this.#log.push(entry === undefined ? 0 : this.#apply(entry));
      this.#contents.push(entry === undefined ? this.#contents[index - 1]! : contentOf(this.#model));
    }
  }

  /** The wish that is decided at `index`, if one is. */
  #apply({ payload, index, time }: CommandEntry): number {
    const command = { ...decodeCommand(payload), time };
    if (command.op === 'malformed' || !isTagged(command)) throw new Error(`the log holds no command at ${index}`);
    this.#count(command.tag, command.time);
    this.#checkRequest(command, requestOf(command.requestId));
    const decision = this.#model.apply(command, index);
    if (decision?.index !== index) return 0;
    const decisions = this.#decisions.get(command.tag) ?? [];
    this.#decisions.set(command.tag, [...decisions, decision]);
    return command.tag;
  }

  #count(tag: number, time: number): void {
    this.#logTime = Math.max(this.#logTime, time);
    const firstAt = this.#firstAt.get(tag);
    if (firstAt === undefined) {
      this.#firstAt.set(tag, this.#logTime);
      return;
    }
    this.repeats += 1;
    if (this.#logTime >= firstAt + hour) this.repeatsHoursApart += 1;
  }

  /** Checks B19: a write that must not be repeated under another request id has one id. */
  #checkRequest({ tag, isRepeatable }: Tagged, request: string): void {
    const first = this.#requests.get(tag) ?? request;
    if (!isRepeatable && first !== request) this.#fail('B19', `write ${tag} is in the log as ${first} and ${request}`);
    this.#requests.set(tag, first);
  }

  /** B6: the same state everywhere at the same index, and it is the right one. */
  check(nodeId: string, view: StateView): void {
    const { applied, hash } = view;
    const known = this.#hashes.get(applied) ?? hash;
    if (known !== hash) this.#fail('B6', `${nodeId} has hash ${hash} at ${applied}, another node has ${known}`);
    this.#hashes.set(applied, known);
    const seen = contentOfView(view);
    if (seen !== this.#contents[applied])
      this.#fail('B5', `${nodeId} shows at ${applied} ${seen}, and should show ${this.#contents[applied]}`);
  }

  /** B19: all answers to one write say what was decided. */
  checkAnswer(tag: number, { status, index, kind, id }: Result): void {
    const isRight = this.#decisions
      .get(tag)
      ?.some((one) => one.status === status && one.index === index && one.kind === kind && one.id === id);
    if (isRight !== true)
      this.#fail(
        'B19',
        `write ${tag} was answered ${status} at ${index}; it was decided ${JSON.stringify(this.#decisions.get(tag))}`,
      );
  }

  /** Returns the indexes at which a write took effect. */
  effectsOf(tag: number): number[] {
    const decisions = this.#decisions.get(tag) ?? [];
    return decisions.filter(({ status }) => succeeded.includes(status)).map(({ index }) => index);
  }

  /**
   * Writes by the one place that counts: where its answer says, else where it took effect, else where it was decided.
   * A capture that came too late is decided again when it is repeated, and so is a key after its day.
   */
  logFor(history: readonly Operation[]): number[] {
    const answers = new Map(history.filter(({ kind }) => kind === 'write').map(({ op, index }) => [op, index]));
    const placeOf = (tag: number) => answers.get(tag) ?? this.effectsOf(tag)[0] ?? this.#decisions.get(tag)?.[0]?.index;
    return this.#log.map((tag, at) => (placeOf(tag) === at + 1 ? tag : 0));
  }
}

const isTagged = (command: object): command is Tagged => 'tag' in command && typeof command.tag === 'number';

const requestOf = (id: { origin: string; incarnation: number; boot: number; seq: number }): string =>
  [id.origin, id.incarnation, id.boot, id.seq].join('-');

function contentOf(model: SlowModel): string {
  const entities = editableKinds.map((kind) => model.list(kind).map(({ id, revision, body }) => [id, revision, body]));
  const snapshots = model.list('snapshots').map(({ id, name, revision, body }) => [id, name, revision, body]);
  const { changedAt, active, history, pending, rollouts } = model;
  return JSON.stringify({ entities, snapshots, changedAt, active, history, pending, rollouts });
}

function contentOfView(view: StateView): string {
  const entities = editableKinds.map((kind) => view.list(kind).map(({ id, revision, spec }) => [id, revision, spec]));
  const snapshots = view.snapshots().map(({ id, name, revision, entities: captured, values }) => {
    const lists = configKinds.map((kind) => captured[kind].map(({ spec }) => spec));
    return [id, name, revision, { lists, values }] as const;
  });
  snapshots.sort(([a], [b]) => (a < b ? -1 : 1));
  const { changedAt, active, pending } = view;
  const history = view.activations.map(({ index, snapshotId, reason }) => ({ index, snapshotId, reason }));
  const rollouts = view.rollouts.map(({ id, snapshotId, state, step, epoch }) => {
    return { id, snapshotId, state, step, epoch };
  });
  return JSON.stringify({ entities, snapshots, changedAt, active, history, pending, rollouts });
}
