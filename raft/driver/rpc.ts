// What crosses the border between the main thread and the raft worker (architecture.md §7), as plain messages.
// One message for each call of RaftNode and of MemberHost; the two ends below turn calls into messages and back.
import type { CheckpointMeta, Index, MemberId, Term } from '../core/types.ts';
import type { CheckpointImage, Committed, MembershipChange, Outcome, RaftNode, RoleReport } from './host.ts';
import type { RaftMember } from './member.ts';
import type { MemberHost, OpenedReport } from './member-host.ts';
import type { MemberStatus } from './status.ts';

export type ToRaft =
  | { readonly type: 'open'; readonly applied: Index; readonly term: Term }
  | { readonly type: 'propose'; readonly id: number; readonly bytes: Uint8Array }
  | { readonly type: 'read'; readonly id: number }
  | { readonly type: 'applied'; readonly index: Index }
  | { readonly type: 'checkpointWritten'; readonly image: CheckpointImage }
  | { readonly type: 'checkpointFailed' }
  | { readonly type: 'installed'; readonly generation: number; readonly index: Index }
  | { readonly type: 'installFailed'; readonly index: Index }
  | { readonly type: 'member'; readonly id: number; readonly change: MembershipChange; readonly force: boolean }
  | { readonly type: 'transfer'; readonly to: MemberId | undefined }
  | { readonly type: 'status'; readonly id: number }
  | { readonly type: 'alive' }
  | { readonly type: 'condemn'; readonly reason: string }
  | { readonly type: 'stop' };

export type FromRaft =
  | { readonly type: 'opened'; readonly report: OpenedReport }
  | { readonly type: 'cannotListen'; readonly code: string }
  | { readonly type: 'committed'; readonly batch: Committed }
  | { readonly type: 'outcome'; readonly id: number; readonly outcome: Outcome }
  | { readonly type: 'readable'; readonly id: number; readonly index: Index | undefined }
  | { readonly type: 'role'; readonly report: RoleReport }
  | { readonly type: 'makeCheckpoint' }
  | { readonly type: 'install'; readonly meta: CheckpointMeta }
  | { readonly type: 'adopt'; readonly generation: number; readonly index: Index }
  | { readonly type: 'discard'; readonly generation: number }
  | { readonly type: 'status'; readonly id: number; readonly status: MemberStatus | undefined }
  | { readonly type: 'notice'; readonly text: string }
  | { readonly type: 'detail'; readonly text: string }
  | { readonly type: 'fatal'; readonly reason: string }
  | { readonly type: 'stopped' };

/** How often main says `alive`. A leader whose main is silent for 5 s hands over. */
export const aliveEveryMs = 250;

/** The host that a member in the worker talks to. */
export function hostOver(post: (message: FromRaft) => void): MemberHost {
  return {
    opened: (report) => post({ type: 'opened', report }),
    cannotListen: (code) => post({ type: 'cannotListen', code }),
    committed: (batch) => post({ type: 'committed', batch }),
    outcome: (id, outcome) => post({ type: 'outcome', id, outcome }),
    readable: (id, index) => post({ type: 'readable', id, index }),
    role: (report) => post({ type: 'role', report }),
    makeCheckpoint: () => post({ type: 'makeCheckpoint' }),
    install: (meta) => post({ type: 'install', meta }),
    adopt: (generation, index) => post({ type: 'adopt', generation, index }),
    discard: (generation) => post({ type: 'discard', generation }),
    notice: (text) => post({ type: 'notice', text }),
    detail: (text) => post({ type: 'detail', text }),
    fatal: (reason) => post({ type: 'fatal', reason }),
  };
}

/** Carries out what main asks, in the worker. */
export function serve(member: RaftMember, message: ToRaft, post: (message: FromRaft) => void): void {
  switch (message.type) {
    case 'open':
      member.begin({ index: message.applied, term: message.term });
      break;
    case 'propose':
      member.node.propose(message.id, message.bytes);
      break;
    case 'read':
      member.node.read(message.id);
      break;
    case 'applied':
      member.node.applied(message.index);
      break;
    case 'checkpointWritten':
      member.node.checkpointWritten(message.image);
      break;
    case 'checkpointFailed':
      member.node.checkpointFailed();
      break;
    case 'installed':
      member.node.installed(message.generation, message.index);
      break;
    case 'installFailed':
      member.node.installFailed(message.index);
      break;
    case 'member':
      member.node.change(message.id, message.change, { force: message.force });
      break;
    case 'transfer':
      member.node.transfer(message.to);
      break;
    case 'status':
      post({ type: 'status', id: message.id, status: member.status() });
      break;
    case 'alive':
      member.node.alive();
      break;
    case 'condemn':
      member.node.condemn(message.reason);
      break;
    case 'stop':
      member.stop(() => post({ type: 'stopped' }));
      break;
  }
}

/** The member as main sees it. Payloads are copied once and handed over: the caller keeps its own. */
export function nodeOver(post: (message: ToRaft, handOver: ArrayBuffer[]) => void): Omit<RaftNode, 'stop'> {
  const tell = (message: ToRaft) => post(message, []);
  return {
    propose(id, payload) {
      const bytes = new Uint8Array(payload);
      post({ type: 'propose', id, bytes }, [bytes.buffer]);
    },
    change: (id, change, { force = false } = {}) => tell({ type: 'member', id, change, force }),
    read: (id) => tell({ type: 'read', id }),
    applied: (index) => tell({ type: 'applied', index }),
    checkpointWritten: (image) => tell({ type: 'checkpointWritten', image }),
    checkpointFailed: () => tell({ type: 'checkpointFailed' }),
    installed: (generation, index) => tell({ type: 'installed', generation, index }),
    installFailed: (index) => tell({ type: 'installFailed', index }),
    transfer: (to) => tell({ type: 'transfer', to }),
    alive: () => tell({ type: 'alive' }),
    condemn: (reason) => tell({ type: 'condemn', reason }),
  };
}
