// The adapter's names for messages and roles: those that most published scenario scripts use.
import type { Message, MessageType } from '../../core/message.ts';
import type { ProgressState } from '../../core/output.ts';
import { type Entry, identityOf, type MemberId, memberId } from '../../core/types.ts';

/** A message that is not here has its own name. */
const kinds: Partial<Record<MessageType, string>> = {
  preVote: 'MsgPreVote',
  preVoteResp: 'MsgPreVoteResp',
  vote: 'MsgVote',
  voteResp: 'MsgVoteResp',
  append: 'MsgApp',
  appendResp: 'MsgAppResp',
  heartbeat: 'MsgHeartbeat',
  heartbeatResp: 'MsgHeartbeatResp',
  checkpointBegin: 'MsgSnap',
  checkpointChunk: 'MsgSnapChunk',
  checkpointAck: 'MsgSnapAck',
  timeoutNow: 'MsgTimeoutNow',
  readIndexReq: 'MsgReadIndex',
  readIndexResp: 'MsgReadIndexResp',
  removed: 'MsgRemoved',
};

function kindOf({ type }: Message): string {
  return kinds[type] ?? type;
}

/** `type` may be given in either spelling. */
export function isKind(message: Message, type: string): boolean {
  return message.type === type || kindOf(message) === type;
}

export const progressNames: Record<ProgressState, string> = {
  probe: 'probe',
  replicate: 'replicate',
  checkpoint: 'snapshot',
};

/** Number of a member: scenario ids are numbers from 1; 0 stands for none. */
export function numberOf(id: MemberId | undefined): number {
  return id === undefined ? 0 : Number(identityOf(id).nodeId);
}

export function idOf(number: number): MemberId {
  return memberId({ nodeId: String(number), incarnation: 1 });
}

export function describeEntry(entry: Entry): { term: number; index: number; type: string; data: string } {
  const { index, term } = entry;
  if (entry.kind === 'command') return { term, index, type: 'normal', data: new TextDecoder().decode(entry.payload) };
  if (entry.kind === 'noop') return { term, index, type: 'normal', data: '' };
  return { term, index, type: 'conf', data: JSON.stringify(describeConfig(entry.config)) };
}

export function describeConfig(config: {
  readonly voters: readonly MemberId[];
  readonly outgoing: readonly MemberId[];
  readonly learners: readonly MemberId[];
  readonly learnersNext: readonly MemberId[];
  readonly autoLeave: boolean;
}) {
  return {
    voters: numbersOf(config.voters),
    outgoing: numbersOf(config.outgoing),
    learners: numbersOf(config.learners),
    learnersNext: numbersOf(config.learnersNext),
    autoLeave: config.autoLeave,
  };
}

function numbersOf(ids: readonly MemberId[]): number[] {
  return ids.map(numberOf).sort((a, b) => a - b);
}

export function describeMessage(message: Message) {
  const common = { from: numberOf(message.from), to: numberOf(message.to), kind: kindOf(message), term: message.term };
  switch (message.type) {
    case 'preVote':
    case 'vote':
      return { ...common, index: message.lastIndex, logTerm: message.lastTerm };
    case 'preVoteResp':
    case 'voteResp':
      return { ...common, reject: !message.granted };
    case 'append': {
      const { prevIndex: index, prevTerm: logTerm, commit } = message;
      return { ...common, index, logTerm, commit, entries: message.entries.map(describeEntry) };
    }
    case 'appendResp': {
      const { match, reject } = message;
      if (reject === undefined) return { ...common, index: match ?? 0, reject: false };
      return { ...common, index: reject.prevIndex, reject: true, hint: reject.hintIndex, logTerm: reject.hintTerm };
    }
    case 'heartbeat':
      return { ...common, commit: message.commit };
    case 'checkpointBegin':
      return { ...common, index: message.meta.index, logTerm: message.meta.term };
    default:
      return common;
  }
}
