// Way of a report about leases to the leader, from any node (fleet.md §8): the node that holds the stream of the proxy knows
// which proxy sends it, the leader keeps the ledger.

import { SluiceError } from '../../errors.ts';
import type { LeaseMessage, LeaseReply, LeaseReport } from '../../model/answers/lease-answers.ts';
import { isObject } from '../../model/json-object.ts';
import { leaseReplyOf } from '../../model/lease-messages.ts';
import type { Clock } from '../../util/clock.ts';
import type { FleetPeer } from '../peer-requests.ts';
import { nodeOfToken } from '../stream-token.ts';
import { endedMs, Ledger } from './lease-ledger.ts';
import { ledgerCopyOf } from './ledger-copy.ts';

export interface LeaseDeskOptions {
  readonly nodeId: string;
  /** Returns the name of the process behind a stream of this node; undefined: there is none. */
  readonly holderOf: (token: string, boot: string) => string | undefined;
  /** True while that process has a stream at this node. */
  readonly isLive: (holder: string) => boolean;
  readonly peers: () => Promise<readonly FleetPeer[]>;
  /** Ids of the limits that are in force at the moment. */
  readonly limits: () => Iterable<string>;
  readonly clock: Clock;
}

/** Standing of this node: the node that leads, by name; undefined while there is none. */
export interface Standing {
  readonly leads: boolean;
  readonly term: number;
  readonly leader: string | undefined;
}

/** Attempts to get the ledger of the former leader, and the time between them: it may not know yet that it is none. */
const copyTries = 3;
const copyEveryMs = 200;
/** A proxy waits no longer for an answer. */
const askMs = 900;

export class LeaseDesk {
  readonly #options: LeaseDeskOptions;
  readonly #ledger = new Ledger();
  #standing: Standing = { leads: false, term: -1, leader: undefined };
  /** Last term in which this node led. */
  #ledTerm = -1;
  /** The last leader that this node knew, and its term. */
  #last: { readonly leader: string; readonly term: number } | undefined;

  constructor(options: LeaseDeskOptions) {
    this.#options = options;
  }

  /** Parts that are held, at the leader; undefined elsewhere. */
  get size(): Ledger['size'] | undefined {
    return this.#standing.leads ? this.#ledger.size : undefined;
  }

  stands(standing: Standing): void {
    const { nodeId, limits, clock } = this.#options;
    const last = this.#last;
    this.#standing = standing;
    if (standing.leads) this.#ledTerm = standing.term;
    if (standing.leader !== undefined) this.#last = { leader: standing.leader, term: standing.term };
    // No other has led since this node did: its ledger is the latest.
    if (!standing.leads || last?.leader === nodeId) return;
    this.#ledger.begin(limits(), clock.monotonicMs());
    if (last !== undefined) void this.#continue(last, copyTries);
  }

  /** Answers the next leader with the ledger of that term; empty where this node did not lead in it, or still does. */
  copy(term: number): object {
    const { leads } = this.#standing;
    if (leads || this.#ledTerm !== term) return {};
    return this.#ledger.copy(this.#options.clock.monotonicMs()) ?? {};
  }

  /** Asks the former leader for its ledger: it lives where leadership was handed over. */
  async #continue(last: { readonly leader: string; readonly term: number }, tries: number): Promise<void> {
    const { clock } = this.#options;
    const { term } = this.#standing;
    const peers = await this.#options.peers().catch(() => []);
    const former = peers.find(({ nodeId }) => nodeId === last.leader);
    const copy = ledgerCopyOf(await former?.ask({ op: 'leaseLedger', term: last.term }, askMs));
    if (!this.#standing.leads || this.#standing.term !== term) return;
    if (copy !== undefined) this.#ledger.continue(copy, clock.monotonicMs());
    else if (tries > 1) clock.after(copyEveryMs, () => void this.#continue(last, tries - 1));
  }

  /**
   * Takes the report of a proxy. Throws CONFLICT for a stream that no node holds, and UNAVAILABLE while no leader
   * answers.
   */
  async take({ token, boot, ...report }: LeaseMessage): Promise<LeaseReply> {
    const { nodeId, holderOf } = this.#options;
    const node = nodeOfToken(token);
    if (node === nodeId) {
      const holder = holderOf(token, boot);
      if (holder === undefined) throw unknownStream();
      return await this.deal(holder, report);
    }
    const holders = (await this.#options.peers()).filter((peer) => peer.nodeId === node);
    if (holders.length === 0) throw unknownStream();
    const message = { token, boot, ...report };
    const answers = await Promise.all(holders.map((peer) => peer.ask({ op: 'leases', message }, askMs)));
    const reply = answers.map(leaseReplyOf).find((each) => each !== undefined);
    if (reply !== undefined) return reply;
    if (answers.every((answer) => isObject(answer) && answer.known === false)) throw unknownStream();
    throw noLeader();
  }

  /** Answers another node for a proxy of this one. */
  async takeForPeer(message: LeaseMessage): Promise<object> {
    try {
      return await this.take(message);
    } catch (error) {
      if (error instanceof SluiceError) return error.code === 'CONFLICT' ? { known: false } : {};
      throw error;
    }
  }

  /** Takes the report of a known process to the leader. Throws UNAVAILABLE. */
  async deal(holder: string, report: LeaseReport): Promise<LeaseReply> {
    if (this.#standing.leads) return this.#lead(holder, report);
    const leader = await this.#leader();
    const reply = leaseReplyOf(await leader?.ask({ op: 'lease', holder, report }, askMs));
    if (reply === undefined) throw noLeader();
    return reply;
  }

  /** Answers another node, as the leader. Throws UNAVAILABLE where this node does not lead. */
  lead(holder: string, report: LeaseReport): LeaseReply {
    if (!this.#standing.leads) throw noLeader();
    return this.#lead(holder, report);
  }

  /** The stream of that process has ended: its parts go back soon, unless it comes again. */
  left(holder: string): void {
    const { clock, isLive } = this.#options;
    clock.after(endedMs, () => {
      if (!isLive(holder)) void this.#tellEnded(holder);
    });
  }

  ended(holder: string): object {
    if (this.#standing.leads) this.#ledger.ended(holder, this.#options.clock.monotonicMs());
    return {};
  }

  async #tellEnded(holder: string): Promise<void> {
    if (this.#standing.leads) this.ended(holder);
    else await (await this.#leader())?.ask({ op: 'leaseEnded', holder }, askMs);
  }

  #lead(holder: string, report: LeaseReport): LeaseReply {
    const reply = this.#ledger.take(holder, report, this.#options.clock.monotonicMs());
    if (reply === undefined) throw new SluiceError('CONFLICT', 'a later report of this proxy has come already');
    return reply;
  }

  async #leader(): Promise<FleetPeer | undefined> {
    const { leader } = this.#standing;
    if (leader === undefined) return undefined;
    const peers = await this.#options.peers().catch(() => []);
    return peers.find(({ nodeId }) => nodeId === leader);
  }
}

const noLeader = (): SluiceError => new SluiceError('UNAVAILABLE', 'no leader answers for the leases of rate limits');

const unknownStream = (): SluiceError =>
  new SluiceError('CONFLICT', 'no node holds a stream with this token: open the stream anew');
