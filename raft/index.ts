/**
 * Consensus for one log of opaque commands. The only public entry: modules that are not exported here are internal to raft.
 *
 * How a program uses it:
 *
 * 1. `const raft = new RaftThread(options, host)` starts a worker thread that opens the log in `options.directory`.
 *    `host.opened(report)` says which generation of the program's state counts; delete the others and open that one.
 *    `host.cannotListen(code)` comes instead when `options.cluster.bindAddress` cannot be listened on: stop, start anew.
 *    Any other failure, then or later, is one `host.fatal(reason)`: take no more writes, keep serving what you have.
 * 2. `raft.begin({ index, term })` with the last entry that the state holds durably (0/0 for an empty one). From here on
 *    the node votes and follows; without `options.cluster` it is a cluster of one.
 * 3. `host.committed(batch)`: apply the commands in order, then call `raft.node.applied(batch.last)`. They are durable in the
 *    log; a state may follow it, in writes that hold data and position together. At most 8 MiB are on the way.
 * 4. `await raft.propose(bytes)` on the leader: `committed` (answer the client once `index` is applied), `notApplied`
 *    (certain; try again, perhaps elsewhere) or `unknown` (not known; only a retry that the state machine recognises
 *    is safe).
 * 5. `await raft.read()` on any node: what the state shows once it has applied this index includes everything that was
 *    acknowledged before the call. Undefined: not now.
 * 6. `host.makeCheckpoint()`: sync the state, `writeCheckpoint` into `checkpointDirectory(options)`, then
 *    `raft.node.checkpointWritten(image)`. `host.install(meta)`: build the next generation from `readCheckpoint`, sync it,
 *    `raft.node.installed(generation, index)`; switch to it on `host.adopt(generation)`, delete it on `host.discard`.
 * 7. `raft.node.condemn(reason)`: the program found its state to be wrong. The node is poisoned and ends with `host.fatal`.
 * 8. `await raft.stop()` hands leadership over and leaves the log with the mark of a clean stop.
 *
 * Everything may be called at any time; before `begin` and after the end proposals are refused as not applied.
 */

export { payloadBytesMax as commandBytesMax } from './codec/primitives.ts';
export type { Role } from './core/output.ts';
export type {
  CheckpointMeta,
  CommandEntry,
  Config,
  Entry,
  Identity,
  Index,
  Member,
  MemberId,
  Term,
} from './core/types.ts';
export { emptyConfig, identityOf, memberId } from './core/types.ts';
export { mediansAhead } from './driver/clock-watch.ts';
export type {
  CheckpointImage,
  Committed,
  MembershipChange,
  Outcome,
  Refusal,
  RoleReport,
} from './driver/driver-host.ts';
export type { Durations, MemberCounts } from './driver/stats.ts';
export { measureSpace, type SpaceHealth, spaceHealth } from './member/disk-watch.ts';
export type { LogBeginning, MemberHost, Notices, OpenedReport } from './member/member-host.ts';
export { type LogRemains, readLogRemains } from './member/offline-log-reader.ts';
export { type ClusterOptions, checkpointDirectory, type RaftOptions, type StaticPeer } from './member/options.ts';
export { type NodeReports, RaftThread, type ThreadHost } from './member/raft-thread.ts';
export type { MemberStatus, PeerStatus } from './member/status.ts';
export {
  type CheckpointContent,
  type CheckpointFile,
  readCheckpoint,
  writeCheckpoint,
} from './store/checkpoint-files.ts';
export { type LogAsItIs, readLogAsItIs } from './store/read-only-log.ts';
export type { PeerTls } from './transport/peer-socket.ts';
export { isPrivateAddress } from './transport/private-address.ts';
