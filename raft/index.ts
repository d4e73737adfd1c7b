/**
 * Consensus for one log of opaque commands. The only door: whatever is not exported here is nobody else's business.
 *
 * How a program uses it:
 *
 * 1. `const raft = new RaftThread(options, host)` starts a worker thread that opens the log in `options.directory`.
 *    `host.opened(report)` says which generation of the program's state counts; delete the others and open that one.
 *    `host.cannotListen(code)` comes instead when `options.cluster.bindAddress` cannot be listened on: stop, start anew.
 *    Any other failure, then or later, is one `host.fatal(reason)`: take no more writes, keep serving what you have.
 * 2. `raft.begin(applied, term)` with the last entry that the state holds durably (0/0 for an empty one). From here on
 *    the node votes and follows; without `options.cluster` it is a cluster of one.
 * 3. `host.committed(batch)`: apply the commands in order, make data and `batch.last` durable in one write, then call
 *    `raft.applied(batch.last)`. At most 8 MiB are on the way; the rest waits in the log.
 * 4. `raft.propose(id, bytes)` on the leader ends in exactly one `host.outcome(id, …)`: `committed` (answer the client
 *    once `index` is applied), `notApplied` (certain; try again, perhaps elsewhere) or `unknown` (nobody can say; only a
 *    retry that the state machine recognises is safe).
 * 5. `raft.read(id)` on any node ends in `host.readable(id, index)`: what the state shows once it has applied `index`
 *    includes everything that was acknowledged before the call. Without index: not now.
 * 6. `host.makeCheckpoint()`: `writeCheckpoint` into `checkpointDirectory(options)`, then `raft.checkpointWritten(image)`.
 *    `host.install(meta)`: build the next generation from `readCheckpoint`, sync it, `raft.installed(generation, index)`;
 *    switch to it on `host.adopt(generation)`, delete it on `host.discard(generation)`.
 * 7. `raft.condemn(reason)`: the program found its state to be wrong. The node is poisoned and ends with `host.fatal`.
 * 8. `await raft.stop()` hands leadership over and leaves the log with the mark of a clean stop.
 *
 * Everything may be called at any time; before `begin` and after the end proposals are refused as not applied.
 */

export { payloadBytesMax as commandBytesMax } from './codec/values.ts';
export type { Role } from './core/output.ts';
export type { CheckpointMeta, CommandEntry, Config, Identity, Index, Member, MemberId, Term } from './core/types.ts';
export { identityOf, memberId } from './core/types.ts';
export type {
  CheckpointImage,
  Committed,
  MembershipChange,
  Outcome,
  Refusal,
  RoleReport,
} from './driver/host.ts';
export type { MemberHost, OpenedReport } from './driver/member-host.ts';
export { type ClusterOptions, checkpointDirectory, type RaftOptions, type StaticPeer } from './driver/options.ts';
export { isPrivateAddress } from './driver/private-address.ts';
export { RaftThread } from './driver/raft-thread.ts';
export type { Durations, MemberCounts } from './driver/stats.ts';
export type { MemberStatus, PeerStatus } from './driver/status.ts';
export type { PeerTls } from './driver/tcp-socket.ts';
export {
  type CheckpointContent,
  type CheckpointFile,
  readCheckpoint,
  writeCheckpoint,
} from './store/checkpoint-files.ts';
