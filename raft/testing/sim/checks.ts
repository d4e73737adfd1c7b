// The invariants that are checked while a cluster runs: at every send, every durable write, every event of a core,
// and for the node that an event touched.

import type { Message } from '../../core/message.ts';
import type { CoreEvent } from '../../core/output.ts';
import { type Config, emptyConfig, type Index, type MemberId, type Term } from '../../core/types.ts';
import type { Committed } from '../../driver/driver-host.ts';
import type { WriteBatch } from '../../store/log-store.ts';
import { type DiskImage, lastIndexOf, termAt } from './disk-image.ts';
import type { Ghost } from './ghost.ts';
import { isQuorum } from './majority.ts';
import type { SimNode } from './sim-node.ts';
import { decodeOp, type MachineState } from './state-machine.ts';
import type { Fail } from './violation.ts';

/** Observations of one identity, through all its lives. */
interface Seen {
  readonly id: MemberId;
  term: Term;
  durableTerm: Term;
  durableCommit: Index;
  commit: Index;
  /** Commit index when it was elected last. */
  electedAt: Index;
  config: Config;
}

const [hash, zero] = [0x23, 0x30];

export class Checks {
  readonly #ghost: Ghost;
  readonly #fail: Fail;
  readonly #nodes: readonly SimNode[];
  /** By slot: an identity that has gone never comes back. */
  readonly #seen: (Seen | undefined)[] = [];

  constructor(nodes: readonly SimNode[], ghost: Ghost, fail: Fail) {
    this.#nodes = nodes;
    this.#ghost = ghost;
    this.#fail = fail;
  }

  #of({ id, slot }: SimNode): Seen {
    let seen = this.#seen[slot];
    if (seen?.id !== id) {
      seen = { id, term: 0, durableTerm: 0, durableCommit: 0, commit: 0, electedAt: 0, config: emptyConfig };
      this.#seen[slot] = seen;
    }
    return seen;
  }

  /** B7, B17: what a process finds is not older than what it was promised. */
  started(node: SimNode): void {
    const state = node.driver?.inspect();
    if (state === undefined) return;
    const seen = this.#of(node);
    if (!node.disk.isSuspect) {
      if (state.term < seen.durableTerm)
        this.#fail('B7', `${node.id} starts in term ${state.term} < ${seen.durableTerm}`);
      if (state.log.committed < seen.durableCommit) this.#fail('B7', `${node.id} starts with an older commit index`);
    }
    Object.assign(seen, { term: state.term, commit: state.log.committed, config: state.config });
    const { base, checkpoint } = node.disk.durable;
    if (base.index > (checkpoint?.index ?? 0)) this.#fail('B17', `${node.id} has no checkpoint for ${base.index}`);
    if (checkpoint && !node.shelf.holds(checkpoint)) this.#fail('B17', `${node.id} misses ${checkpoint.file}`);
  }

  /** Forgets what a condemned disk had promised. */
  torn(node: SimNode): void {
    this.#seen[node.slot] = undefined;
    this.#ghost.forgets(node.id, node.disk.durable.hardState);
  }

  event(node: SimNode, event: CoreEvent): void {
    switch (event.type) {
      case 'elected':
        this.#elected(node, event.term, event.votes);
        break;
      case 'commit':
        this.#committed(node, event.index);
        break;
      case 'config':
        this.#of(node).config = event.config;
        break;
      case 'truncated':
        if (node.driver?.inspect().role === 'leader') this.#fail('B2', `leader ${node.id} truncates at ${event.from}`);
        break;
      case 'lostData':
        if (!this.#mayLoseData(event.peer ?? node.id))
          this.#fail('LOST', `${event.peer ?? node.id} has ${event.last} < ${event.acked}`);
        break;
      case 'refused':
        this.#fail('LOST', `${node.id} refuses a ${event.message} of ${event.from}: ${event.why}`);
        break;
      default:
    }
  }

  #mayLoseData(id: MemberId): boolean {
    return this.#nodes.some((node) => node.id === id && (node.disk.isSuspect || node.isCondemned));
  }

  /** B1, B4, B13. */
  #elected(node: SimNode, term: Term, votes: readonly MemberId[]): void {
    this.#ghost.elected(node.id, term);
    const state = node.driver?.inspect();
    if (state === undefined) return;
    this.#of(node).electedAt = state.log.committed;
    // A candidate that slept through a later term may still count old votes: it has to hold what was there before.
    const last = this.#ghost.committedBefore(term);
    const known = this.#ghost.committed[last - 1];
    if (known !== undefined && state.log.base.index < last && state.log.term(last) !== known.term)
      this.#fail('B4', `${node.id} leads term ${term} without committed entry ${last} of term ${known.term}`);
    if (!isQuorum(this.#of(node).config, (id) => votes.includes(id)))
      this.#fail('B13', `${node.id} leads term ${term} with the votes of ${votes.join(' ')}`);
    for (const id of votes)
      if (this.#nodes.some((other) => other.id === id && other.isCondemned && other.isUp))
        this.#fail('B13', `${id} voted although its data is lost`);
  }

  /** B5, B7, B8. */
  #committed(node: SimNode, index: Index): void {
    const state = node.driver?.inspect();
    if (state === undefined) return;
    const { log, term } = state;
    const seen = this.#of(node);
    if (index < seen.commit) this.#fail('B7', `${node.id} takes its commit index back from ${seen.commit} to ${index}`);
    if (index > this.#ghost.lastCommitted) this.#checkDurable(node, index, seen.config);
    for (let at = Math.max(seen.commit, log.base.index) + 1; at <= index; at += 1) {
      const entry = log.entry(at);
      if (entry !== undefined) this.#ghost.commits(node.id, entry, term);
    }
    if (index > this.#ghost.lastCommitted) this.#fail('B5', `${node.id} commits ${index} that no node has`);
    seen.commit = index;
  }

  /** B8: synced copies on a quorum of the configuration in force. What a suspect node has stored since does not count. */
  #checkDurable(node: SimNode, index: Index, config: Config): void {
    const term = node.driver?.inspect().log.term(index);
    const holds = (id: MemberId) => {
      const node = this.#nodes[slotOf(id)];
      const isTrusted = node?.id === id && !node.disk.isSuspect;
      const disks = [isTrusted ? node.disk.durable : undefined, node?.graveyard.get(id)];
      return disks.some((disk) => disk && (disk.base.index >= index || termAt(disk, index) === term));
    };
    if (!isQuorum(config, holds)) {
      const holders = [...config.voters, ...config.outgoing].filter(holds);
      this.#fail('B8', `${node.id} commits ${index}, durable only on ${holders.join(' ') || 'no voter'}`);
    }
  }

  /** B3, B7, B12, B17 on the durable content. */
  durable(node: SimNode, batch: WriteBatch, image: DiskImage): void {
    const seen = this.#of(node);
    const { term, commit, vote } = image.hardState;
    if (term < seen.durableTerm) this.#fail('B7', `${node.id} stores term ${term} after ${seen.durableTerm}`);
    if (commit < seen.durableCommit) this.#fail('B7', `${node.id} stores commit ${commit} after ${seen.durableCommit}`);
    seen.durableTerm = term;
    seen.durableCommit = commit;
    if (vote !== undefined && batch.hardState) this.#ghost.voted(node.id, term, vote);
    if (commit > lastIndexOf(image)) this.#fail('B9', `${node.id} stores commit ${commit} beyond its log`);
    for (const entry of batch.entries ?? []) {
      const stored = image.entries[entry.index - image.base.index - 1];
      if (stored === entry) this.#ghost.stored(node.id, entry, termAt(image, entry.index - 1) ?? 0);
      if (entry.kind === 'config') this.#configLag(node.id, image);
    }
    const last = image.entries.at(-1);
    if (last && last.term > term) this.#fail('P8', `${node.id} stores an entry of term ${last.term} in term ${term}`);
    for (
      let at = image.entries.length - 1;
      at > 0 && image.entries.length - at <= (batch.entries?.length ?? 0);
      at -= 1
    )
      if (image.entries[at]!.term < image.entries[at - 1]!.term) this.#fail('P4', `${node.id} has terms out of order`);
    if (batch.compactTo && batch.compactTo.index > (image.checkpoint?.index ?? 0))
      this.#fail('B17', `${node.id} compacts to ${batch.compactTo.index} without a checkpoint`);
    if (image.checkpoint && !node.shelf.holds(image.checkpoint))
      this.#fail('B17', `${node.id} names a checkpoint file that it has not`);
  }

  /** B12: at most one configuration entry is not known to be committed. */
  #configLag(id: MemberId, image: DiskImage): void {
    let pending = 0;
    for (let at = image.entries.length - 1; at >= 0; at -= 1) {
      const entry = image.entries[at]!;
      if (entry.index <= image.hardState.commit) break;
      if (entry.kind === 'config') pending += 1;
    }
    if (pending > 1) this.#fail('B12', `${id} holds ${pending} uncommitted configurations`);
  }

  /** B10: no message says more than the sender's disk does. */
  sent(node: SimNode, message: Message): void {
    const disk = node.disk.durable;
    const { term, vote } = disk.hardState;
    // A later term on disk makes what was said in an earlier one harmless.
    const isCurrent = term === message.term;
    const says = message.type;
    if ((says === 'preVoteResp' || says === 'voteResp') && message.granted && node.disk.isSuspect)
      this.#fail('B13', `${node.id} votes for ${message.to} although it may have voted before`);
    if (says === 'voteResp' && message.granted) {
      this.#ghost.voted(node.id, message.term, message.to);
      if (term < message.term || (isCurrent && vote !== message.to))
        this.#fail('B10', `${node.id} grants ${message.to} a vote that is not on its disk`);
    }
    if (says === 'vote') {
      const { index, term: lastTerm } = endOf(disk);
      if (term < message.term || (isCurrent && vote !== node.id))
        this.#fail('B10', `${node.id} campaigns with a vote that is not on its disk`);
      const isLess = lastTerm < message.lastTerm || (lastTerm === message.lastTerm && index < message.lastIndex);
      if (isCurrent && isLess)
        this.#fail(
          'B10',
          `${node.id} advertises (${message.lastIndex}, ${message.lastTerm}), durable is (${index}, ${lastTerm})`,
        );
    }
    if (says === 'appendResp' && message.match !== undefined) {
      if (term < message.term || (isCurrent && lastIndexOf(disk) < message.match))
        this.#fail('B10', `${node.id} acknowledges ${message.match}, durable is ${lastIndexOf(disk)} in term ${term}`);
    }
    if ((says === 'heartbeatResp' || says === 'append' || says === 'heartbeat') && term < message.term)
      this.#fail('B10', `${node.id} speaks in term ${message.term}, durable is ${term}`);
  }

  /** B7, B9, B15, for the node that just ran. */
  touched(node: SimNode): void {
    const state = node.driver?.inspect();
    if (state === undefined || node.host === undefined) return;
    const seen = this.#of(node);
    if (state.term < seen.term) this.#fail('B7', `${node.id} goes back to term ${state.term}`);
    seen.term = state.term;
    const { log } = state;
    if (log.committed > log.lastIndex) this.#fail('B9', `${node.id} commits beyond its log`);
    if (node.host.applied > log.committed)
      this.#fail('B9', `${node.id} applied ${node.host.applied} beyond commit ${log.committed}`);
    if (state.role !== 'leader') return;
    // Only an entry of the own term is committed by counting; a configuration before it may be waited for alone.
    const newest = log.entry(log.committed);
    const isOld = newest !== undefined && newest.term !== state.term && newest.kind !== 'config';
    if (log.committed > seen.electedAt && isOld)
      this.#fail('B8', `${node.id} leads term ${state.term} and commits ${log.committed} of term ${newest.term}`);
    this.#progress(node, state.progress, state.settings.windowMessages);
  }

  #progress(node: SimNode, peers: NonNullable<ReturnType<typeof progressOf>>, window: number): void {
    for (const [id, peer] of peers) {
      if (peer.state === 'checkpoint' && peer.pendingCheckpoint > 0 && peer.match >= peer.pendingCheckpoint)
        this.#fail('B15', `${node.id}: ${id} holds ${peer.match}, and is sent checkpoint ${peer.pendingCheckpoint}`);
      if (peer.match >= peer.next) this.#fail('B15', `${node.id}: match ${peer.match}, next ${peer.next} for ${id}`);
      if (peer.inflight > window) this.#fail('B15', `${node.id}: ${peer.inflight} appends in flight to ${id}`);
      const other = this.#nodes[slotOf(id)];
      if (other?.id !== id || other.disk.isSuspect || other.isCondemned || peer.match === 0) continue;
      const last = lastIndexOf(other.disk.durable);
      const isSameTerm = other.disk.durable.hardState.term === node.driver?.inspect().term;
      if (isSameTerm && peer.match > last)
        this.#fail('B15', `${node.id}: match ${peer.match} for ${id}, durable ${last}`);
    }
  }

  /** B5, B9, B19. */
  applying(node: SimNode, batch: Committed, state: MachineState): void {
    if (batch.first !== state.applied + 1) this.#fail('B5', `${node.id} applies ${batch.first} after ${state.applied}`);
    this.applyingUpTo(node, batch.last, batch.term);
    for (const { index, payload } of batch.entries) this.#ghost.applies(node.id, index, decodeOp(payload));
  }

  /** B9: `term` is that of the entry at `last`. */
  applyingUpTo(node: SimNode, last: Index, term: Term): void {
    const durable = termAt(node.disk.durable, last);
    if (durable !== term && node.disk.durable.base.index < last)
      this.#fail('B9', `${node.id} applies ${last} of term ${term}, durable there is term ${durable}`);
  }

  /** B6. */
  applied(node: SimNode, state: MachineState): void {
    this.#ghost.hasState(node.id, state.applied, state.hash);
  }

  /**
   * B14: a log that wins an election against another holds everything the other knows to be committed, if that was
   * committed no later than the winner's last term. A leader of a later term may commit what the loser has and the
   * winner lacks; then a quorum holds an entry of that term too, and the winner wins against the loser alone.
   */
  pairwise(): void {
    const disks = this.#nodes
      .filter((node) => !node.disk.isSuspect && !node.isCondemned)
      .map(({ disk }) => disk.durable);
    for (const a of disks) {
      for (const b of disks) {
        if (a === b || !isUpToDate(a, b)) continue;
        const known = Math.min(b.hardState.commit, this.#ghost.committedBefore(endOf(a).term + 1));
        if (known > a.base.index && termAt(a, known) !== this.#ghost.committed[known - 1]?.term)
          this.#fail('B14', `a log ending at ${lastIndexOf(a)} would win without committed entry ${known}`);
      }
    }
  }

  /** B25. */
  bounded(): void {
    for (const node of this.#nodes) {
      const state = node.driver?.inspect();
      if (state === undefined) continue;
      if (state.reads.size > state.settings.pendingReads)
        this.#fail('B25', `${node.id}: ${state.reads.size} reads wait`);
      if (state.log.lastIndex - state.log.committed > state.settings.uncommittedEntries + 2)
        this.#fail('B25', `${node.id}: too many uncommitted entries`);
      if (node.shelf.files.length > 6) this.#fail('B25', `${node.id}: ${node.shelf.files.length} checkpoint files`);
    }
  }
}

function progressOf(node: SimNode) {
  return node.driver?.inspect().progress;
}

/** Returns the slot of a member, 2 for `n3#1`. Called for every message, so it makes no strings. */
export function slotOf(id: MemberId): number {
  let slot = 0;
  for (let at = 1; at < id.length && id.charCodeAt(at) !== hash; at += 1) slot = slot * 10 + id.charCodeAt(at) - zero;
  return slot - 1;
}

function endOf(image: Readonly<DiskImage>): { index: Index; term: Term } {
  return { index: lastIndexOf(image), term: image.entries.at(-1)?.term ?? image.base.term };
}

function isUpToDate(a: Readonly<DiskImage>, b: Readonly<DiskImage>): boolean {
  const [x, y] = [endOf(a), endOf(b)];
  return x.term > y.term || (x.term === y.term && x.index >= y.index);
}
