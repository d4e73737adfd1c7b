// Builders and arbitraries of peer messages, for the codec and transport tests.
import fc from 'fast-check';

import type { Message } from '../../../../raft/core/message.ts';
import type { CheckpointMeta, Config, Entry, Member } from '../../../../raft/core/types.ts';

export const clusterId = '00112233445566778899aabbccddeeff';

export function heartbeat(fields: Partial<Extract<Message, { type: 'heartbeat' }>> = {}): Message {
  return { type: 'heartbeat', clusterId, from: 'a#1', to: 'b#2', term: 3, commit: 7, round: 0, ...fields };
}

export function append(entries: readonly Entry[], fields: Partial<Extract<Message, { type: 'append' }>> = {}): Message {
  const header = { type: 'append', clusterId, from: 'a#1', to: 'b#2', term: 3 } as const;
  return {
    ...header,
    prevIndex: 4,
    prevTerm: 2,
    entries,
    commit: 4,
    sendSeq: 9,
    youAcked: 4,
    vouchedBoot: 1,
    ...fields,
  };
}

export function command(index: number, payload: Uint8Array | string, term = 3): Entry {
  return {
    kind: 'command',
    index,
    term,
    time: 1_700_000_000_000 + index,
    payload: new Uint8Array(Buffer.from(payload)),
  };
}

const position = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const id = fc.tuple(fc.stringMatching(/^[a-z0-9-]{1,12}$/), fc.nat()).map(([node, n]) => `${node}#${n}`);
const ids = fc.array(id, { maxLength: 4 });
const member: fc.Arbitrary<Member> = fc.record({ id, address: fc.string(), clientAddress: fc.string() });
const config: fc.Arbitrary<Config> = fc.record({
  voters: ids,
  outgoing: ids,
  learners: ids,
  learnersNext: ids,
  autoLeave: fc.boolean(),
  members: fc.array(member, { maxLength: 4 }),
  removed: ids,
});
const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((each) => Buffer.from(each).toString('hex'));
const meta: fc.Arbitrary<CheckpointMeta> = fc.record({
  index: position,
  term: position,
  time: position,
  config,
  file: fc.stringMatching(/^[a-z0-9.-]{1,40}$/),
  size: position,
  sha256: hex(32),
});
const entryHead = { index: position, term: position, time: position };
const payload = fc.uint8Array({ maxLength: 64 });
const anyEntry: fc.Arbitrary<Entry> = fc.oneof(
  fc.record({ ...entryHead, kind: fc.constant('command' as const), payload }),
  fc.record({ ...entryHead, kind: fc.constant('config' as const), config }),
  fc.record({ ...entryHead, kind: fc.constant('noop' as const) }),
);
const header = { clusterId: hex(16), from: id, to: id, term: position };
const optional = fc.option(position, { nil: undefined });
const reject = fc.record({ prevIndex: position, hintIndex: position, hintTerm: position });
const vote = { ...header, lastIndex: position, lastTerm: position, nonce: position };
const granted = { ...header, granted: fc.boolean(), nonce: position };
const commit = { commit: position, commitTerm: position };
const transfer = position;

export const anyMessage: fc.Arbitrary<Message> = fc.oneof(
  fc.record({ ...vote, ...commit, type: fc.constant('preVote' as const) }),
  fc.record({ ...vote, type: fc.constant('vote' as const), transfer: fc.boolean() }),
  fc.record({ ...granted, ...commit, type: fc.constant('preVoteResp' as const) }),
  fc.record({ ...granted, type: fc.constant('voteResp' as const) }),
  fc.record({
    ...header,
    type: fc.constant('append' as const),
    prevIndex: position,
    prevTerm: position,
    entries: fc.array(anyEntry, { maxLength: 5 }),
    commit: position,
    sendSeq: position,
    youAcked: position,
    vouchedBoot: position,
  }),
  fc.record({
    ...header,
    type: fc.constant('appendResp' as const),
    match: optional,
    reject: fc.option(reject, { nil: undefined }),
    lastIndex: position,
    sendSeq: position,
    boot: position,
    suspect: fc.boolean(),
  }),
  fc.record({ ...header, type: fc.constant('heartbeat' as const), commit: position, round: position }),
  fc.record({
    ...header,
    type: fc.constant('heartbeatResp' as const),
    round: position,
    applyLag: position,
    diskSlow: fc.boolean(),
    boot: position,
    suspect: fc.boolean(),
  }),
  fc.record({ ...header, type: fc.constant('checkpointBegin' as const), meta, transfer }),
  fc.record({ ...header, type: fc.constant('checkpointChunk' as const), transfer, offset: position, data: payload }),
  fc.record({
    ...header,
    type: fc.constant('checkpointAck' as const),
    transfer,
    offset: position,
    refused: fc.boolean(),
  }),
  fc.record({ ...header, type: fc.constant('timeoutNow' as const) }),
  fc.record({ ...header, type: fc.constant('readIndexReq' as const), id: position }),
  fc.record({ ...header, type: fc.constant('readIndexResp' as const), id: position, index: optional }),
  fc.record({ ...header, type: fc.constant('removed' as const), index: position }),
);
