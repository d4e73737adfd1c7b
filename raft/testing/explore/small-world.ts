// A cluster so small that all its ways can be gone: every order of messages, timeouts, writes and crashes within the
// bounds. Messages that are never delivered are the lost ones.
import type { Message } from '../../core/message.ts';
import type { CoreEvent } from '../../core/output.ts';
import { type Config, type Entry, emptyConfig } from '../../core/types.ts';
import { termAt } from '../sim/disk-image.ts';
import { Ghost } from '../sim/ghost.ts';
import { isQuorum } from '../sim/majority.ts';
import { decodeOp, encodeOp } from '../sim/state-machine.ts';
import { Violation } from '../sim/violation.ts';
import { SmallNode } from './small-node.ts';

export interface Bounds {
  readonly nodes: number;
  readonly elections: number;
  readonly proposals: number;
  /** Heartbeats of a leader, to all. */
  readonly heartbeats: number;
  readonly crashes: number;
  /** Messages that stay on the way although they were delivered. */
  readonly duplicates: number;
  /** False: each write ends when the exploration says so, and a crash loses those that have not. */
  readonly writesAtOnce: boolean;
}

export interface Action {
  readonly kind: 'campaign' | 'propose' | 'heartbeat' | 'write' | 'crash' | 'deliver' | 'duplicate';
  /** Index of a node; of a message on the way for the last two kinds. */
  readonly at: number;
}

export class SmallWorld {
  readonly #bounds: Bounds;
  readonly #nodes: SmallNode[];
  readonly #ghost: Ghost;
  #wire: { readonly message: Message; readonly text: string }[] = [];
  #spent = { campaign: 0, propose: 0, heartbeat: 0, crash: 0, duplicate: 0 };
  violation: Violation | undefined;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
    const ids = Array.from({ length: bounds.nodes }, (_, i) => `n${i + 1}#1`);
    const config: Config = {
      ...emptyConfig,
      voters: ids,
      members: ids.map((id) => ({ id, address: id, clientAddress: '' })),
    };
    const first: Entry = { index: 1, term: 1, time: 0, kind: 'config', config };
    this.#ghost = new Ghost(this.#fail, { opOf: decodeOp, registerOf: () => 0 });
    this.#ghost.commits('bootstrap', first, 0);
    this.#ghost.stored('bootstrap', first, 0);
    const world = {
      send: (message: Message) => this.#send(message),
      observe: (node: SmallNode, event: CoreEvent) => this.#observe(node, event),
      written: (node: SmallNode, entries: readonly Entry[]) => this.#written(node, entries),
      writesAtOnce: bounds.writesAtOnce,
    };
    this.#nodes = ids.map((id) => new SmallNode(id, config, world));
  }

  readonly #fail = (rule: string, detail: string): void => {
    this.violation ??= new Violation(rule, detail);
  };

  #send(message: Message): void {
    const text = JSON.stringify(message);
    if (!this.#wire.some((other) => other.text === text)) this.#wire.push({ message, text });
  }

  /** Returns the possible next actions. The first to campaign is the first node: the others only have other names. */
  actions(): Action[] {
    const { elections, proposals, heartbeats, crashes, duplicates } = this.#bounds;
    const { campaign, propose, heartbeat, crash, duplicate } = this.#spent;
    const actions: Action[] = this.#wire.map((_, at) => ({ kind: 'deliver', at }));
    this.#nodes.forEach((node, at) => {
      const isLeader = node.core.inspect().role === 'leader';
      if (node.hasUnwritten) actions.push({ kind: 'write', at });
      if (isLeader && propose < proposals) actions.push({ kind: 'propose', at });
      if (isLeader && heartbeat < heartbeats) actions.push({ kind: 'heartbeat', at });
      if (!isLeader && campaign < elections && (campaign > 0 || at === 0)) actions.push({ kind: 'campaign', at });
      if (crash < crashes && campaign > 0) actions.push({ kind: 'crash', at });
    });
    const again: Action[] = duplicate < duplicates ? this.#wire.map((_, at) => ({ kind: 'duplicate', at })) : [];
    return [...actions, ...again];
  }

  perform({ kind, at }: Action): void {
    if (kind !== 'deliver' && kind !== 'write') this.#spent[kind] += 1;
    try {
      this.#perform(kind, at);
    } catch (error) {
      this.violation ??= new Violation('INVARIANT', String(error));
    }
  }

  #perform(kind: Action['kind'], at: number): void {
    if (kind === 'deliver' || kind === 'duplicate') {
      this.#deliver(at, kind === 'duplicate');
      return;
    }
    const node = this.#nodes[at]!;
    if (kind === 'campaign') node.core.campaign();
    if (kind === 'propose') node.core.propose([{ payload: encodeOp(this.#spent.propose, 4), time: 0 }]);
    if (kind === 'heartbeat') node.core.tick();
    if (kind === 'write') node.write();
    if (kind === 'crash') node.crash();
    node.settle();
  }

  #deliver(at: number, stays: boolean): void {
    const { message } = this.#wire[at]!;
    if (!stays) this.#wire.splice(at, 1);
    const node = this.#nodes.find(({ id }) => id === message.to);
    node?.core.step(message);
    node?.settle();
  }

  #observe(node: SmallNode, event: CoreEvent): void {
    if (event.type === 'elected') this.#elected(node, event.term);
    if (event.type === 'commit') this.#committed(node, event.index);
    if (event.type === 'lostData') this.#fail('LOST', `${event.peer ?? node.id} has ${event.last} < ${event.acked}`);
    if (event.type === 'refused') this.#fail('LOST', `${node.id} refuses a ${event.message}: ${event.why}`);
    if (event.type === 'truncated' && node.core.inspect().role === 'leader')
      this.#fail('B2', `leader ${node.id} truncates at ${event.from}`);
  }

  /** B1, B4. */
  #elected(node: SmallNode, term: number): void {
    this.#ghost.elected(node.id, term);
    const last = this.#ghost.committedBefore(term);
    const { log } = node.core.inspect();
    if (log.term(last) !== this.#ghost.committed[last - 1]?.term)
      this.#fail('B4', `${node.id} leads term ${term} without committed entry ${last}`);
  }

  /** B5, B8. */
  #committed(node: SmallNode, index: number): void {
    const { config, log, term } = node.core.inspect();
    const isNews = index > this.#ghost.lastCommitted;
    for (let at = 2; at <= index; at += 1) this.#ghost.commits(node.id, log.entry(at)!, term);
    const holds = (id: string) =>
      this.#nodes.some((other) => other.id === id && termAt(other.disk, index) === log.term(index));
    if (isNews && !isQuorum(config, holds)) this.#fail('B8', `${node.id} commits ${index} without a quorum`);
  }

  /** B3, B7, B11. */
  #written(node: SmallNode, entries: readonly Entry[]): void {
    const { commit, term, vote } = node.disk.hardState;
    if (vote !== undefined) this.#ghost.voted(node.id, term, vote);
    for (const entry of entries) this.#ghost.stored(node.id, entry, termAt(node.disk, entry.index - 1) ?? 0);
    if (commit >= 1 && termAt(node.disk, commit) !== this.#ghost.committed[commit - 1]?.term)
      this.#fail('B7', `${node.id} stores commit ${commit} over another entry`);
  }

  /** Equal for worlds that look the same; which of two equal messages came first does not matter. */
  digest(): string {
    const { campaign, crash, duplicate, heartbeat, propose } = this.#spent;
    const leaders = [2, 3, 4, 5].map((term) => this.#ghost.leaderOf(term));
    const committed = this.#ghost.committed.map(({ op, term }) => `${term}:${op}`);
    const nodes = this.#nodes.map((node) => node.digest());
    const wire = this.#wire.map(({ text }) => text).sort();
    return [campaign, crash, duplicate, heartbeat, propose, leaders, committed, ...nodes, ...wire].join('\n');
  }

  /** The action in words, before it is performed. */
  describe({ kind, at }: Action): string {
    if (kind !== 'deliver' && kind !== 'duplicate') return `${kind} ${this.#nodes[at]!.id}`;
    const { from, to, type, term } = this.#wire[at]!.message;
    return `${kind} ${type} of term ${term} from ${from} to ${to}`;
  }
}
