// Clients of the simulated cluster: each wants one thing after another from some node, repeats what it may repeat until
// it has an answer, sometimes long after, and notes what it asked for and was told.

import { isMember } from '../../../raft/core/config-change.ts';
import type { Operation } from '../../../raft/testing/history/history.ts';
import type { Chance } from '../../../raft/testing/sim/chance.ts';
import type { ProgramWorld, Users } from '../../../raft/testing/sim/program.ts';
import type { SimNode } from '../../../raft/testing/sim/sim-node.ts';
import { SluiceError } from '../../../src/errors.ts';
import type { Result } from '../../../src/state/command.ts';
import type { Ledger } from './ledger.ts';
import type { NodeProcess } from './node-process.ts';
import type { SimProxies } from './proxies.ts';
import { registers, registerValue, type Wish, Wishes } from './wishes.ts';

type End = Pick<Operation, 'outcome'> & Partial<Pick<Operation, 'index' | 'value'>>;

/** One request on its way to one node. */
interface Request {
  readonly slot: number;
  readonly end: (end: End) => void;
}

/** Clients give up before the node does, or after it. */
const patienceMs = [800, 3_000, 12_000] as const;
/** Beyond those of the plan: many wait for a node that is cut off. */
const moreClients = 4;
const attemptsMax = 6;
/** Three steps that end or stall within ten seconds each, and a leader. */
const rolloutsEndMs = 50_000;

interface Parts {
  readonly world: ProgramWorld;
  readonly chance: Chance;
  readonly ledger: Ledger;
  readonly proxies: SimProxies;
  readonly processAt: (slot: number) => NodeProcess | undefined;
}

export class Clients implements Users {
  readonly history: Operation[] = [];
  acknowledged = 0;
  /** Requests of a wish beyond its first. */
  repeated = 0;
  readonly #world: ProgramWorld;
  readonly #chance: Chance;
  readonly #ledger: Ledger;
  readonly #wishes: Wishes;
  readonly #processAt: (slot: number) => NodeProcess | undefined;
  readonly #proxies: SimProxies;
  readonly #open = new Set<Request>();
  readonly #servedAt = new Map<string, number>();
  #mustServe: readonly SimNode[] | undefined;
  #isStopped = false;
  #lastAckedAt = 0;

  constructor({ world, chance, ledger, proxies, processAt }: Parts) {
    this.#world = world;
    this.#chance = chance;
    this.#ledger = ledger;
    this.#proxies = proxies;
    this.#wishes = new Wishes(chance.fork());
    this.#processAt = processAt;
  }

  /** A running rollout is under way as well: it ends without a further request. */
  get openCount(): number {
    return this.#open.size + Number(this.#hasRunning());
  }

  /** In peace: when each member that is well had served a read and a write. */
  get lastAckedAt(): number {
    if (this.#mustServe === undefined) return this.#lastAckedAt;
    const slots = this.#members();
    return Math.min(...slots.flatMap((slot) => [this.#served(slot, 'read'), this.#served(slot, 'write')]));
  }

  /** True once all healthy nodes have to serve. */
  get isSettled(): boolean {
    return this.#mustServe !== undefined;
  }

  start(): void {
    this.#proxies.start();
    const { clients } = this.#world.plan.load;
    for (let client = 0; client < clients + moreClients; client += 1)
      this.#next(client, this.#chance.between(0, 2_000));
  }

  settle(well: readonly SimNode[]): void {
    for (const node of well) node.rightClock();
    this.#proxies.settle();
    this.#world.at(this.#world.now() + rolloutsEndMs, -1, () => {
      if (this.#hasRunning()) this.#world.fail('R5', `a rollout still runs after ${rolloutsEndMs} ms of peace`);
    });
    this.#mustServe = well;
    this.#servedAt.clear();
  }

  stop(): void {
    this.#isStopped = true;
  }

  lost({ slot }: SimNode): void {
    for (const request of [...this.#open]) if (request.slot === slot) request.end({ outcome: 'unknown' });
  }

  #hasRunning(): boolean {
    if (this.#mustServe === undefined) return false;
    return this.#members().some(
      (slot) => this.#processAt(slot)?.view.rollouts.some(({ state }) => state === 'running') ?? false,
    );
  }

  #members(): number[] {
    const config = this.#world.ghost.newestConfig;
    const well = this.#mustServe ?? [];
    return well.filter(({ id, isCondemned }) => !isCondemned && config && isMember(config, id)).map(({ slot }) => slot);
  }

  #served(slot: number, kind: Operation['kind']): number {
    return this.#servedAt.get(`${kind} ${slot}`) ?? 0;
  }

  #next(client: number, afterMs: number): void {
    this.#world.at(this.#world.now() + afterMs, -1, () => {
      if (!this.#isStopped) this.#issue(client);
    });
  }

  #issue(client: number): void {
    const slot = this.#chooseSlot();
    const process = this.#processAt(slot);
    const { thinkMs, reads } = this.#world.plan.load;
    const done = (isAnswered: boolean): void =>
      this.#next(client, this.#chance.exponential(isAnswered ? thinkMs : 100));
    if (process === undefined) this.#next(client, this.#chance.between(20, 100));
    else if (this.#chance.happens(this.#mustServe === undefined ? reads : 0.5)) this.#read(slot, done);
    else this.#write(this.#wishes.next(process.view), slot, done);
  }

  #chooseSlot(): number {
    const waiting = this.#members().filter((slot) => this.#served(slot, 'read') * this.#served(slot, 'write') === 0);
    return waiting.length > 0 ? this.#chance.pick(waiting) : this.#chance.below(this.#world.nodes.length);
  }

  /** One request; `ask` runs on the node, unless its process ends before. `end` is called once. */
  #request(
    slot: number,
    ask: (process: NodeProcess, end: (end: End) => void) => void,
    ended: (end: End) => void,
  ): void {
    const request: Request = {
      slot,
      end: (end) => {
        if (this.#open.delete(request)) ended(end);
      },
    };
    this.#open.add(request);
    const { now, at } = this.#world;
    at(now() + this.#chance.pick(patienceMs), -1, () => request.end({ outcome: 'unknown' }));
    at(now(), slot, () => {
      const process = this.#processAt(slot);
      if (process === undefined) request.end({ outcome: 'notApplied' });
      else
        process.life.later(0, () =>
          ask(process, (end) => {
            if (!process.life.isOver) request.end(end);
          }),
        );
    });
  }

  /** Linearizable, at any node. */
  #read(slot: number, done: (isAnswered: boolean) => void): void {
    const register = this.#chance.below(registers);
    const op = this.#wishes.newTag();
    const invokedAt = this.#world.now();
    const ask = (process: NodeProcess, end: (end: End) => void): void => {
      process.log.readBarrier().then(
        () => end({ outcome: 'ok', index: process.view.applied, value: registerValue(process.view, register) }),
        (error: unknown) => end(this.#refused(error)),
      );
    };
    this.#request(slot, ask, (end) => {
      if (end.outcome === 'ok') this.#note({ op, register, kind: 'read', invokedAt }, end, slot);
      done(end.outcome === 'ok');
    });
  }

  #write(wish: Wish, slot: number, done: (isAnswered: boolean) => void): void {
    const { tag: op, register } = wish;
    const invokedAt = this.#world.now();
    let isPossible = false;
    const attempt = (at: number, count: number): void =>
      this.#ask(wish, at, (end) => {
        isPossible ||= end.outcome === 'unknown';
        const isLast = end.outcome === 'ok' || !wish.draft.isRepeatable || count >= attemptsMax || this.#isStopped;
        if (!isLast) {
          this.#again(() => attempt(this.#chooseSlot(), count + 1));
          return;
        }
        const outcome = end.outcome === 'notApplied' && isPossible ? 'unknown' : end.outcome;
        this.#note({ op, register, kind: 'write', invokedAt }, { ...end, outcome }, at);
        if (outcome === 'ok') this.#maybeMore(wish, at);
        done(outcome === 'ok');
      });
    attempt(slot, 1);
  }

  #again(run: () => void): void {
    const waitMs = this.#chance.happens(0.2) ? this.#chance.between(1_000, 20_000) : this.#chance.between(50, 1_000);
    this.repeated += 1;
    this.#world.at(this.#world.now() + waitMs, -1, run);
  }

  /** Repeats or continues after an answer, or part of it: asks again, or reads where the write is to be seen. */
  #maybeMore(wish: Wish, slot: number): void {
    if (this.#isStopped) return;
    if (wish.draft.isRepeatable && this.#chance.happens(0.15)) {
      this.#again(() => this.#ask(wish, this.#chooseSlot(), () => undefined));
    }
    if (this.#chance.happens(0.1)) this.#readOwn(slot);
  }

  /** B22: `?minRevision=` is never served from before it. */
  #readOwn(slot: number): void {
    const wanted = this.#ledger.last;
    const ask = (process: NodeProcess, end: (end: End) => void): void => {
      process.log.appliedAtLeast(wanted, 2_000).then(
        () => {
          const { applied } = process.view;
          if (applied < wanted) this.#world.fail('B22', `node ${slot + 1} shows ${applied} to who asked for ${wanted}`);
          end({ outcome: 'ok' });
        },
        (error: unknown) => end(this.#refused(error)),
      );
    };
    this.#request(slot, ask, () => undefined);
  }

  #ask(wish: Wish, slot: number, ended: (end: End) => void): void {
    const ask = (process: NodeProcess, end: (end: End) => void): void => {
      process.log.propose(wish.draft).then(
        (result) => {
          if (!process.life.isOver) this.#answered(wish.tag, result, process.applied);
          end({ outcome: 'ok', index: result.index });
        },
        (error: unknown) => end(this.#refused(error)),
      );
    };
    this.#request(slot, ask, ended);
  }

  #answered(tag: number, result: Result, applied: number): void {
    if (applied < result.index)
      this.#world.fail('B22', `write ${tag} was answered at ${applied}, before ${result.index}`);
    this.acknowledged += 1;
    this.#world.note(tag, result.index);
    this.#ledger.checkAnswer(tag, result);
  }

  #refused(error: unknown): End {
    if (error instanceof SluiceError && error.code === 'UNAVAILABLE') return { outcome: 'notApplied' };
    if (error instanceof SluiceError && error.code === 'OUTCOME_UNKNOWN') return { outcome: 'unknown' };
    this.#world.fail('ANSWER', String(error));
    return { outcome: 'unknown' };
  }

  #note(operation: Pick<Operation, 'op' | 'register' | 'kind' | 'invokedAt'>, end: End, slot: number): void {
    const { outcome, index, value } = end;
    const returnedAt = this.#world.now();
    this.history.push({ ...operation, returnedAt, outcome, index, value });
    if (outcome !== 'ok') return;
    this.#servedAt.set(`${operation.kind} ${slot}`, returnedAt);
    if (operation.kind === 'write') this.#lastAckedAt = returnedAt;
  }
}
