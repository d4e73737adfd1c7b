// A cluster of cores in memory, driven command by command: foreign scenario scripts and our own use it.
import type { MemberChange, Transition } from '../../core/config-change.ts';
import type { Message } from '../../core/message.ts';
import { seededRng } from '../../core/rng.ts';
import { type Config, emptyConfig, type Member } from '../../core/types.ts';
import { AdapterNode, type NodeOptions, scenarioCluster } from './adapter-node.ts';
import { describeConfig, describeEntry, describeMessage, idOf, isKind, numberOf, progressNames } from './wire-names.ts';

export interface AddNodes {
  readonly n: number;
  readonly voters?: readonly number[];
  readonly learners?: readonly number[];
  /** Index, at term 1, of the checkpoint that each new node boots from; without it, nodes boot empty. */
  readonly index?: number;
  readonly opts?: NodeOptions;
}

export type ChangeKind = 'voter' | 'learner' | 'remove' | 'update';

export class AdapterCluster {
  readonly #nodes = new Map<number, AdapterNode>();
  #wire: Message[] = [];

  get ids(): number[] {
    return [...this.#nodes.keys()];
  }

  get wire(): readonly Message[] {
    return this.#wire;
  }

  node(id: number): AdapterNode {
    const node = this.#nodes.get(id);
    if (node === undefined) throw new Error(`there is no node ${id}`);
    return node;
  }

  addNodes({ n, voters = [], learners = [], index = 0, opts = {} }: AddNodes): void {
    const config: Config = {
      ...emptyConfig,
      voters: voters.map(idOf).sort(),
      learners: learners.map(idOf).sort(),
      members: [...voters, ...learners].map(memberOf).sort((a, b) => (a.id < b.id ? -1 : 1)),
    };
    for (let added = 0; added < n; added += 1) {
      const id = this.#nodes.size + 1;
      const send = (message: Message) => {
        // Published scripts know no such notice.
        if (message.type !== 'removed') this.#wire.push(message);
      };
      this.#nodes.set(
        id,
        new AdapterNode(idOf(id), index > 0 ? config : emptyConfig, index, opts, seededRng(id), send),
      );
    }
  }

  proposeConf(id: number, changes: readonly (readonly [ChangeKind, number])[], transition: Transition) {
    return this.node(id).core.proposeConfig(changes.map(memberChange), transition, 0);
  }

  /** Delivers in order what waits for `to`, then drops what waits for `drop`. Returns how many were delivered. */
  deliver(to: readonly number[], drop: readonly number[] = [], type?: string): number {
    const matches = (message: Message, id: number) =>
      numberOf(message.to) === id && (type === undefined || isKind(message, type));
    let delivered = 0;
    for (const id of to) {
      const mine = this.#wire.filter((message) => matches(message, id));
      this.#wire = this.#wire.filter((message) => !matches(message, id));
      for (const message of mine) this.#nodes.get(id)?.receive(message);
      delivered += mine.length;
    }
    this.#wire = this.#wire.filter((message) => !drop.some((id) => matches(message, id)));
    return delivered;
  }

  /** Everyone's output first, then everyone's messages, by id, until nothing happens any more. */
  stabilize(ids: readonly number[] = this.ids): void {
    for (let rounds = 0; rounds < 1_000; rounds += 1) {
      let isBusy = false;
      for (const id of ids) isBusy = this.node(id).ready() || isBusy;
      isBusy = this.deliver(ids) > 0 || isBusy;
      for (const id of ids) while (this.node(id).persistOne()) isBusy = true;
      for (const id of ids) while (this.node(id).applyOne()) isBusy = true;
      if (!isBusy) return;
    }
    throw new Error('the cluster does not come to rest');
  }

  sendSnapshot(from: number, to: number): void {
    const node = this.node(from);
    const meta = node.checkpoint();
    const { term } = node.core.inspect();
    this.#wire.push({
      clusterId: scenarioCluster,
      from: node.id,
      to: idOf(to),
      term,
      type: 'checkpointBegin',
      meta,
      transfer: 0,
    });
  }

  describeWire() {
    return this.#wire.map(describeMessage);
  }

  describe(id: number) {
    const node = this.node(id);
    const state = node.core.inspect();
    const { log } = state;
    const entries = [];
    for (let at = log.firstIndex; at <= log.lastIndex; at += 1) entries.push(describeEntry(log.entry(at)!));
    return {
      id,
      role: state.role,
      term: state.term,
      lead: numberOf(state.leader),
      vote: numberOf(state.vote),
      commit: log.committed,
      applied: node.applied,
      first: log.firstIndex,
      last: log.lastIndex,
      isVoter: [...state.config.voters, ...state.config.outgoing].includes(node.id),
      config: describeConfig(state.config),
      log: entries,
      progress: this.#describeProgress(node),
    };
  }

  #describeProgress({ core, id }: AdapterNode) {
    const { log, progress, role } = core.inspect();
    if (role !== 'leader') return {};
    const self = {
      state: 'replicate',
      match: log.stable,
      next: log.lastIndex + 1,
      paused: false,
      inflight: 0,
      pendingSnapshot: 0,
      active: true,
    };
    const peers = [...progress].map(([peer, each]) => [
      numberOf(peer),
      {
        state: progressNames[each.state],
        match: each.match,
        next: each.next,
        paused: each.isPaused,
        inflight: each.inflight,
        pendingSnapshot: each.pendingCheckpoint,
        active: each.active,
      },
    ]);
    return Object.fromEntries([[numberOf(id), self], ...peers]);
  }
}

function memberOf(id: number): Member {
  return { id: idOf(id), address: `node-${id}:7000`, clientAddress: '' };
}

function memberChange([kind, id]: readonly [ChangeKind, number]): MemberChange {
  const member = memberOf(id);
  if (kind === 'voter') return { type: 'addVoter', member };
  if (kind === 'learner') return { type: 'addLearner', member };
  return kind === 'remove' ? { type: 'remove', id: member.id } : { type: 'update', member };
}
