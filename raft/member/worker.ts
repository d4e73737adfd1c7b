// Entry of the raft worker thread: elections and fsyncs go on here while main is busy (architecture.md §2). It runs one
// member, and main calls it over the bridge.
import { randomFillSync } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';

import {
  type Call,
  CallQueue,
  callerOf,
  type HostCalls,
  hostCalls,
  invoke,
  largeMemory,
  type NodeCalls,
} from './bridge.ts';
import { RaftMember } from './member.ts';
import type { MemberHost } from './member-host.ts';
import type { RaftOptions } from './options.ts';
import { packBatch } from './packed-batch.ts';
import { packCalls, unpackCall } from './packed-calls.ts';
import { systemClock } from './system-clock.ts';
import { watchThread } from './thread-report.ts';

/** Data that `new Worker` hands over. */
export interface RaftWorkerData {
  readonly options: RaftOptions;
}

if (parentPort === null) throw new Error('raft/member/worker.ts runs in a worker thread only');
const port = parentPort;
const { options }: RaftWorkerData = workerData;
// The driver makes all calls of one turn together. Main gets them before messages to peers go into their sockets, in
// microtasks: main has clients to answer.
const queue = new CallQueue(
  (calls) => {
    const packed = packCalls(calls);
    port.postMessage(packed, largeMemory(packed));
  },
  (run) => process.nextTick(run),
);
const main = callerOf<HostCalls>(hostCalls, queue.add);
const host: MemberHost = { ...main, committed: (batch) => main.committed(packBatch(batch)) };
const member = new RaftMember({ options, host, clock: systemClock, random: randomFillSync });
const report = watchThread();
const node: Pick<NodeCalls, 'begin' | 'stateWaits' | 'status' | 'stop'> = {
  begin: (applied) => member.begin(applied),
  stateWaits: (waits) => member.stateWaits(waits),
  status: (id) => {
    const status = member.status();
    main.status(id, status && { ...status, thread: report() });
  },
  stop: () =>
    member.stop(() => {
      main.stopped();
      process.nextTick(() => port.close());
    }),
};
const take = (call: Call): void => invoke(call[0] in node ? node : member.node, call);
port.on('message', (calls: readonly Call[]) => {
  for (const call of calls) unpackCall(call, take);
});
member.open();
