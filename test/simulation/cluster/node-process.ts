// One process of a whole node: the product's state, proposer, relay and generations over a simulated disk, clock, network
// and raft.
import { createHash } from 'node:crypto';
import type { RaftNode } from '../../../raft/driver/host.ts';
import type { CheckpointMeta, Outcome, Committed as RaftCommitted, RoleReport } from '../../../raft/index.ts';
import type { Chance } from '../../../raft/testing/sim/chance.ts';
import type { CheckpointShelf } from '../../../raft/testing/sim/checkpoint-shelf.ts';
import type { ProgramHost, Surroundings } from '../../../raft/testing/sim/machine.ts';
import { clusterId } from '../../../raft/testing/sim/sim-node.ts';
import type { Clock } from '../../../src/clock.ts';
import { type CheckpointFiles, type GenerationStores, Generations } from '../../../src/cluster/generations.ts';
import type { LeaderCall, LeaderConnections } from '../../../src/cluster/leader-connections.ts';
import {
  committedMessage,
  fatalMessage,
  outcomeMessage,
  readableMessage,
  roleMessage,
} from '../../../src/cluster/log-messages.ts';
import { Proposer } from '../../../src/cluster/proposer.ts';
import { RelayClient } from '../../../src/cluster/relay-client.ts';
import { type RelayAnswer, RelayServer } from '../../../src/cluster/relay-server.ts';
import { SluiceError } from '../../../src/errors.ts';
import { DurableState } from '../../../src/state/durable-state.ts';
import type { StateView } from '../../../src/state/view.ts';
import { RaftLine } from './raft-line.ts';
import { failedWrite, type StateDisk, type StoreWorld } from './state-disk.ts';

export interface ProcessParts {
  readonly nodeId: string;
  readonly disk: StateDisk;
  readonly shelf: () => CheckpointShelf;
  /** Content of every checkpoint by its hash. */
  readonly library: Map<string, Uint8Array>;
  /** Length that raft takes a checkpoint file to have. */
  readonly checkpointSize: number;
  readonly surroundings: Surroundings;
  readonly chance: Chance;
  readonly relayKey: Uint8Array | undefined;
  readonly connections: (process: () => NodeProcess) => Pick<LeaderConnections, 'call'>;
  /** Code of the product ran: its promises have to come to rest. */
  readonly ran: () => void;
  readonly committed: (batch: RaftCommitted) => void;
  /** Caught up by a checkpoint. */
  readonly installed: () => void;
  /** Whether the next write of the state is to fail. */
  readonly failsWrite: () => boolean;
  readonly fail: (rule: string, detail: string) => void;
}

/** Where simulated time begins. */
const epoch = Date.UTC(2026, 0, 1);
const sliceBytes = 700;

export class NodeProcess implements ProgramHost {
  readonly log: Proposer;
  readonly #parts: ProcessParts;
  readonly #state: DurableState;
  readonly #line: RaftLine;
  readonly #relay: RelayServer;
  readonly #generations: Generations;
  readonly #whenEnded = new Set<() => void>();
  #node: RaftNode | undefined;
  #isOver = false;

  private constructor(parts: ProcessParts, state: DurableState, generation: number, life: Life) {
    const { nodeId, relayKey: key, chance } = parts;
    const clock = clockOf(parts, life);
    this.#parts = parts;
    this.#state = state;
    this.#line = new RaftLine(life.later);
    this.#generations = this.#newGenerations(generation, life);
    const relay = new RelayClient({
      connections: parts.connections(() => this),
      clusterId: () => clusterId,
      key,
      clock,
      newNonce: () => randomBytesOf(chance)(18).toString('base64url'),
    });
    const adopt = (next: number): Promise<void> => this.#generations.adopt(next);
    this.log = new Proposer({ port: this.#line, state, clock, nodeId, relay, adopt });
    this.#relay = new RelayServer({
      target: this.log,
      clusterId: () => clusterId,
      decode: (bytes) => state.decode(bytes),
      key,
      clock,
    });
    state.onFailure((reason) => this.#failed(reason));
    life.process = this;
    this.later = life.later;
  }

  /** Runs in this process or never, and counts as code of the product. */
  readonly later: (ms: number, run: () => void) => void;

  /** Opens the state; rejects when it cannot be used. */
  static async boot(parts: ProcessParts, generation: number): Promise<NodeProcess> {
    const life = lifeOf(parts);
    parts.disk.removeOthers(generation);
    const store = parts.disk.open(generation, storeWorldOf(parts, life));
    const state = await DurableState.open(store, { randomBytes: randomBytesOf(parts.chance) });
    return new NodeProcess(parts, state, generation, life);
  }

  get applied(): number {
    return this.view.applied;
  }

  /** Term of the entry at the applied index. */
  get appliedTerm(): number {
    return this.#state.entry?.term ?? 0;
  }

  get view(): StateView {
    return this.#state.view;
  }

  attach(node: RaftNode): void {
    this.#node = node;
    this.#line.attach(node);
    this.#line.whenStopped = () => node.stop(() => undefined);
  }

  stopping(then: () => void): void {
    this.#line.whenStopped = then;
    this.#parts.ran();
    void this.log.stop();
  }

  /** The process is gone. */
  end(): void {
    this.#isOver = true;
    for (const ended of this.#whenEnded) ended();
  }

  /** Returns the end of the subscription. */
  onEnd(ended: () => void): () => void {
    this.#whenEnded.add(ended);
    return () => this.#whenEnded.delete(ended);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** As the API answers `POST /sync/raft`. */
  serve({ method, path, headers, body }: LeaderCall, answer: (reply: RelayAnswer) => void): void {
    this.#parts.ran();
    const head = { method, path, authorization: headers.authorization, remoteAddress: '10.0.0.1', isCertified: false };
    this.#relay.take(head, body).then(
      (reply) => {
        if (!this.#isOver) answer(reply);
      },
      (error: unknown) => {
        if (!(error instanceof SluiceError)) this.#parts.fail('RELAY', `${this.#parts.nodeId}: ${String(error)}`);
        else if (!this.#isOver) answer({ status: error.status, body: JSON.stringify({ error: error.message }) });
      },
    );
  }

  committed(batch: RaftCommitted): void {
    this.#parts.committed(batch);
    this.#line.say(committedMessage(batch));
  }

  outcome(id: number, outcome: Outcome): void {
    // Membership changes are asked for by the operator, not by this program.
    if (id < firstChangeId) this.#line.say(outcomeMessage(id, outcome));
  }

  readable(id: number, index: number | undefined): void {
    this.#line.say(readableMessage(id, index));
  }

  role(report: RoleReport): void {
    this.#line.say(roleMessage(report));
  }

  makeCheckpoint(): void {
    this.#line.cross(() => this.#generations.make());
  }

  install(meta: CheckpointMeta): void {
    this.#line.cross(() => this.#generations.install(meta));
  }

  adopt(generation: number, index: number): void {
    this.#line.say({ type: 'adopt', generation, index });
  }

  discard(generation: number): void {
    this.#line.cross(() => this.#generations.discard(generation));
  }

  fatal(reason: string): void {
    this.#line.say(fatalMessage(reason));
    this.#parts.surroundings.fatal(reason);
  }

  /** Raft ends with the state, and an operator starts the process again. */
  #failed(reason: string): void {
    const { fail, nodeId, surroundings } = this.#parts;
    if (reason.includes(failedWrite)) surroundings.fatal(`state write failed: ${reason}`);
    else fail('STATE', `${nodeId}: ${reason}`);
  }

  #newGenerations(generation: number, life: Life): Generations {
    const { disk, fail, nodeId, chance, installed } = this.#parts;
    const stores: GenerationStores = {
      create: async (next) => disk.create(next, storeWorldOf(this.#parts, life)),
      seal: () => wait(life, 1),
      remove: async (former) => disk.remove(former),
    };
    return new Generations({
      stores,
      checkpoints: checkpointFilesOf(this.#parts, life),
      log: {
        generation,
        checkpointWritten: (image) => this.#node?.checkpointWritten(image),
        checkpointFailed: () => this.#node?.checkpointFailed(),
        installed: (next, index) => this.#node?.installed(next, index),
        installFailed: (index) => this.#node?.installFailed(index),
      },
      state: this.#state,
      openOptions: { randomBytes: randomBytesOf(chance) },
      notice: (text) => {
        if (text.startsWith('caught up')) installed();
        if (text.includes('cannot be used') && !text.includes(failedWrite)) fail('B16', `${nodeId}: ${text}`);
      },
    });
  }
}

const firstChangeId = 1_000_000_000;

/** Connects what a process plans with whether it still runs, before and after it is whole. */
interface Life {
  process: NodeProcess | undefined;
  readonly later: (ms: number, run: () => void) => void;
}

function lifeOf({ surroundings, ran }: ProcessParts): Life {
  const life: Life = {
    process: undefined,
    later: (ms, run) => {
      if (life.process?.isOver === true) return;
      surroundings.later(ms, () => {
        ran();
        run();
      });
    },
  };
  return life;
}

const wait = (life: Life, ms: number): Promise<void> => new Promise((resolve) => life.later(ms, resolve));

const storeWorldOf = ({ surroundings, failsWrite }: ProcessParts, life: Life): StoreWorld => ({
  later: life.later,
  writeMs: () => surroundings.applyMs(),
  fails: () => life.process !== undefined && failsWrite(),
});

function clockOf({ surroundings: { clock } }: ProcessParts, life: Life): Clock {
  return {
    nowMs: () => epoch + clock.nowMs(),
    monotonicMs: () => clock.monotonicMs(),
    after: (ms, run) => {
      let isCancelled = false;
      life.later(ms, () => {
        if (!isCancelled) run();
      });
      return () => {
        isCancelled = true;
      };
    },
  };
}

const randomBytesOf =
  (chance: Chance) =>
  (count: number): Buffer =>
    Buffer.from(Uint8Array.from({ length: count }, () => chance.below(256)));

function checkpointFilesOf({ shelf, library, checkpointSize: size }: ProcessParts, life: Life): CheckpointFiles {
  return {
    async write({ index, term, content }) {
      const slices: Uint8Array[] = [];
      for await (const slice of content) slices.push(slice);
      const bytes = Buffer.concat(slices);
      await wait(life, 20);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const file = `written-${index}`;
      shelf().files.set(file, { sha256, size });
      library.set(sha256, bytes);
      return { index, term, file, size, sha256 };
    },
    async *read({ sha256, file }) {
      await wait(life, 2);
      const bytes = shelf().files.has(file) ? library.get(sha256) : undefined;
      if (bytes === undefined) throw new Error(`there is no file ${file}`);
      for (let at = 0; at < bytes.length; at += sliceBytes) yield bytes.subarray(at, at + sliceBytes);
    },
  };
}
