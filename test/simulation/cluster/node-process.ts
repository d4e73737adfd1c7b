// One process of a whole node: the product's state, proposer, relay and generations over a simulated disk, clock, network
// and raft.
import type { ServerResponse } from 'node:http';
import type { RaftNode } from '../../../raft/driver/driver-host.ts';
import type { CheckpointMeta, Outcome, Committed as RaftCommitted, RoleReport } from '../../../raft/index.ts';
import type { ProgramHost } from '../../../raft/testing/sim/machine.ts';
import { clusterId } from '../../../raft/testing/sim/sim-node.ts';
import { type GenerationStores, Generations } from '../../../src/cluster/checkpoints/generations.ts';
import { fatalMessage, roleMessage } from '../../../src/cluster/log/log-port.ts';
import { Proposer } from '../../../src/cluster/log/proposer.ts';
import { ClusterReadiness } from '../../../src/cluster/log/readiness.ts';
import type { LeaderCall } from '../../../src/cluster/relay/leader-connections.ts';
import { RelayClient } from '../../../src/cluster/relay/relay-client.ts';
import { type RelayAnswer, RelayServer } from '../../../src/cluster/relay/relay-server.ts';
import { SluiceError } from '../../../src/errors.ts';
import { ConfirmationController } from '../../../src/leader/confirmation-controller.ts';
import { LeaderControllers } from '../../../src/leader/leader-controllers.ts';
import { RolloutController } from '../../../src/leader/rollout-controller.ts';
import type { Candidate } from '../../../src/model/proxy-config.ts';
import type { Draft } from '../../../src/state/command.ts';
import { DurableState } from '../../../src/state/durable-state.ts';
import { isShadow } from '../../../src/state/rollout.ts';
import { writeBehindMs } from '../../../src/state/round-writer.ts';
import type { StateView } from '../../../src/state/view.ts';
import { silentLogger } from '../../../src/telemetry/logger.ts';
import type { Clock } from '../../../src/util/clock.ts';
import { drain } from '../../../src/util/time-slice.ts';
import { SimFleet } from './fleet.ts';
import { FollowedFeed } from './followed-feed.ts';
import {
  checkpointFilesOf,
  clockOf,
  ProcessLife,
  type ProcessParts,
  randomBytesOf,
  storeWorldOf,
} from './process-life.ts';
import { RaftLine } from './raft-line.ts';
import { failedWrite } from './state-disk.ts';

export class NodeProcess implements ProgramHost {
  readonly log: Proposer;
  readonly #parts: ProcessParts;
  readonly #state: DurableState;
  readonly #line: RaftLine;
  readonly #relay: RelayServer;
  readonly #generations: Generations;
  readonly #feed: FollowedFeed;
  readonly life: ProcessLife;
  #node: RaftNode | undefined;

  private constructor(parts: ProcessParts, state: DurableState, generation: number, life: ProcessLife) {
    const { nodeId, relayKey: key, chance } = parts;
    const clock = clockOf(parts, life);
    this.#parts = parts;
    this.#state = state;
    this.life = life;
    this.#line = new RaftLine((ms, run) => life.later(ms, run));
    this.#generations = this.#newGenerations(generation, life);
    const relay = new RelayClient({
      connections: parts.connections(life),
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
    life.isWhole = true;
    this.#feed = new FollowedFeed(nodeId, state.view, this.log, clock);
    this.#startDuties(clock);
  }

  /** Opens the state; rejects when it cannot be used. */
  static async boot(parts: ProcessParts, generation: number): Promise<NodeProcess> {
    const life = new ProcessLife(parts);
    parts.disk.removeOthers(generation);
    const store = parts.disk.open(generation, storeWorldOf(parts, life));
    const state = await DurableState.open(store, {
      randomBytes: randomBytesOf(parts.chance),
      // How long a slice takes is the machine's business, and no seed's.
      run: async (steps) => drain(steps),
      behind: { clock: clockOf(parts, life), delayMs: writeBehindMs },
    });
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

  /** Candidate of its own proxy. */
  get serving(): Candidate | undefined {
    return this.#feed.own;
  }

  /** A proxy asks for the stream. */
  follow(response: ServerResponse): void {
    this.#parts.ran();
    this.#feed.follow(response);
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

  /** As the API answers `POST /sync/raft`. */
  serve({ method, path, headers, body }: LeaderCall, answer: (reply: RelayAnswer) => void): void {
    this.#parts.ran();
    const { authorization, 'content-digest': contentDigest } = headers;
    const head = { method, path, authorization, contentDigest, remoteAddress: '10.0.0.1', isCertified: false };
    this.#relay.take(head, body).then(
      (reply) => {
        if (!this.life.isOver) answer(reply);
      },
      (error: unknown) => {
        if (!(error instanceof SluiceError)) this.#parts.fail('RELAY', `${this.#parts.nodeId}: ${String(error)}`);
        else if (!this.life.isOver) answer({ status: error.status, body: JSON.stringify({ error: error.message }) });
      },
    );
  }

  committed(batch: RaftCommitted): void {
    this.#parts.committed(batch);
    this.#line.say({ type: 'committed', batch });
  }

  outcome(id: number, outcome: Outcome): void {
    // Membership changes are asked for by the operator, not by this program.
    if (id < firstChangeId) this.#line.outcome(id, outcome);
  }

  readable(id: number, index: number | undefined): void {
    this.#line.readable(id, index);
  }

  disk(): void {}

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

  #startDuties(clock: Clock): void {
    const { chance, fail, tagged, confirmation } = this.#parts;
    const fleet = new SimFleet(chance.fork(), fail, () => {
      const rollout = this.view.rollouts.at(-1);
      return rollout !== undefined && isShadow(rollout.plan.steps[rollout.step]);
    });
    const own = this.log;
    const log = {
      get leads() {
        return own.leads;
      },
      propose: (draft: Draft) => {
        fleet.concluded(draft);
        return own.propose(tagged(draft));
      },
    };
    const controllers = [new ConfirmationController(confirmation), new RolloutController(fleet)];
    const duties = new LeaderControllers({ log, view: this.view, clock, logger: silentLogger, controllers });
    const readiness = new ClusterReadiness({ log: own, watch: { why: undefined }, clock });
    void readiness.whenReady.then(() => duties.start());
  }

  /** Raft ends with the state, and an operator starts the process again. */
  #failed(reason: string): void {
    const { fail, nodeId, surroundings } = this.#parts;
    if (reason.includes(failedWrite)) surroundings.fatal(`state write failed: ${reason}`);
    else fail('STATE', `${nodeId}: ${reason}`);
  }

  #newGenerations(generation: number, life: ProcessLife): Generations {
    const { disk, fail, nodeId, chance, installed } = this.#parts;
    const stores: GenerationStores = {
      create: async (next) => disk.create(next, storeWorldOf(this.#parts, life)),
      seal: () => life.wait(1),
      remove: async (former) => disk.remove(former),
    };
    return new Generations({
      stores,
      checkpoints: checkpointFilesOf(this.#parts, life),
      generation,
      node: {
        checkpointWritten: (image) => this.#node?.checkpointWritten(image),
        checkpointFailed: () => this.#node?.checkpointFailed(),
        installed: (next, index) => this.#node?.installed(next, index),
        installFailed: (index) => this.#node?.installFailed(index),
      },
      state: this.#state,
      openOptions: { randomBytes: randomBytesOf(chance) },
      notices: {
        notice: (text) => {
          if (text.startsWith('caught up')) installed();
        },
        warning: (text) => {
          if (text.includes('cannot be used') && !text.includes(failedWrite)) fail('B16', `${nodeId}: ${text}`);
        },
      },
    });
  }
}

const firstChangeId = 1_000_000_000;
