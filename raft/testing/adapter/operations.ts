// The adapter's commands: one JSON object in, one out. The words are those of the published scenario format.
import type { Transition } from '../../core/config-change.ts';
import type { ProposeResult } from '../../core/leader.ts';
import { AdapterCluster, type AddNodes, type ChangeKind } from './adapter-cluster.ts';
import { idOf } from './wire-names.ts';

export interface Command {
  readonly op: string;
  readonly id?: number;
  readonly n?: number;
  readonly ticks?: number;
  readonly data?: string;
  readonly changes?: readonly unknown[];
  readonly transition?: Transition;
  readonly ids?: readonly number[];
  readonly to?: number | readonly number[];
  readonly from?: number;
  readonly drop?: readonly number[];
  readonly type?: string;
  readonly index?: number;
  readonly peer?: number;
  readonly ok?: boolean;
}

/** Carries out one command after another; `reset` empties the environment. */
export class Operations {
  #cluster = new AdapterCluster();

  get cluster(): AdapterCluster {
    return this.#cluster;
  }

  /** Throws when the command makes no sense. */
  run(command: Command & Partial<AddNodes>): unknown {
    const cluster = this.#cluster;
    const core = () => cluster.node(required(command.id, 'id')).core;
    switch (command.op) {
      case 'reset':
        this.#cluster = new AdapterCluster();
        return {};
      case 'addNodes':
        cluster.addNodes({ ...command, n: command.n ?? 1 });
        return {};
      case 'campaign':
        core().campaign();
        return {};
      case 'tick':
      case 'tickHeartbeat':
      case 'tickElection':
        return this.#tick(command);
      case 'setElectionTimeout':
        cluster.node(required(command.id, 'id')).setElectionTimeout(required(command.ticks, 'ticks'));
        return {};
      case 'propose':
        return outcome(core().propose([{ payload: new TextEncoder().encode(command.data ?? ''), time: 0 }])[0]);
      case 'proposeConf':
        return outcome(
          cluster.proposeConf(required(command.id, 'id'), changesOf(command), command.transition ?? 'auto'),
        );
      case 'read':
        core().read(command.n ?? 1);
        return {};
      default:
        return this.#runEnvironment(command);
    }
  }

  #tick({ op, id, n }: Command): unknown {
    const ticks = op === 'tick' ? (n ?? 1) : op === 'tickHeartbeat' ? 1 : 3;
    for (let i = 0; i < ticks; i += 1) this.#cluster.node(required(id, 'id')).core.tick();
    return {};
  }

  #runEnvironment(command: Command): unknown {
    const cluster = this.#cluster;
    const node = () => cluster.node(required(command.id, 'id'));
    switch (command.op) {
      case 'ready':
        return { busy: node().ready() };
      case 'persistOne':
        return { done: node().persistOne() };
      case 'applyOne':
        return { done: node().applyOne() };
      case 'deliver':
        return { delivered: cluster.deliver(numbers(command.to), command.drop ?? [], command.type) };
      case 'stabilize':
        cluster.stabilize(command.ids ?? cluster.ids);
        return {};
      case 'transfer':
        return {
          accepted: cluster.node(required(command.from, 'from')).core.transferTo(idOf(numbers(command.to)[0] ?? 0)),
        };
      case 'compact':
        return node().core.compactTo(required(command.index, 'index'));
      case 'sendSnapshot':
        cluster.sendSnapshot(required(command.from, 'from'), numbers(command.to)[0] ?? 0);
        return {};
      case 'reportUnreachable':
        node().core.peerUnreachable(idOf(required(command.peer, 'peer')));
        return {};
      case 'reportSnapshot':
        if (command.ok === false) node().core.checkpointFailed(idOf(required(command.peer, 'peer')));
        return {};
      case 'state':
        return { nodes: cluster.ids.map((id) => cluster.describe(id)) };
      case 'wire':
        return { messages: cluster.describeWire() };
      default:
        throw new Error(`there is no command "${command.op}"`);
    }
  }
}

function required<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new Error(`"${name}" is missing`);
  return value;
}

function numbers(value: number | readonly number[] | undefined): readonly number[] {
  if (value === undefined) return [];
  return typeof value === 'number' ? [value] : value;
}

function outcome(result: ProposeResult | undefined): unknown {
  if (result === undefined) throw new Error('nothing was proposed');
  if (result.kind === 'appended') return { accepted: true, index: result.index, term: result.term };
  return { accepted: false, dropped: result.detail ?? result.why };
}

const letters: Readonly<Record<string, ChangeKind>> = { v: 'voter', l: 'learner', r: 'remove', u: 'update' };
const words: Readonly<Record<string, ChangeKind>> = {
  voter: 'voter',
  addVoter: 'voter',
  learner: 'learner',
  addLearner: 'learner',
  remove: 'remove',
  update: 'update',
};

/** `"v1"`, `"l2"`, `"r3"`, `"u4"`, or `{ "type": "voter", "id": 1 }`. */
export function changesOf({ changes = [] }: Pick<Command, 'changes'>): [ChangeKind, number][] {
  return changes.map((change) => {
    const kind = typeof change === 'string' ? letters[change[0] ?? ''] : words[String(field(change, 'type'))];
    const id = Number(typeof change === 'string' ? change.slice(1) : field(change, 'id'));
    if (kind === undefined || !Number.isInteger(id)) throw new Error(`no change: ${JSON.stringify(change)}`);
    return [kind, id];
  });
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
