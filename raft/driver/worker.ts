// Entry of the raft worker thread: elections and fsyncs go on here while main is busy (architecture.md §2). It runs one
// member and speaks the messages of rpc.ts with the thread that started it (raft-thread.ts).
import { randomFillSync } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';

import { RaftMember } from './member.ts';
import type { RaftOptions } from './options.ts';
import { type FromRaft, hostOver, serve, type ToRaft } from './rpc.ts';
import { systemClock } from './system-clock.ts';
import { watchThread } from './thread-report.ts';

/** What `new Worker` hands over. */
export interface RaftWorkerData {
  readonly options: RaftOptions;
}

if (parentPort === null) throw new Error('raft/driver/worker.ts runs in a worker thread only');
const port = parentPort;
const { options }: RaftWorkerData = workerData;
const post = (message: FromRaft) => port.postMessage(message);
const member = new RaftMember({
  options,
  host: hostOver(post),
  clock: systemClock,
  random: randomFillSync,
});
const report = watchThread();
port.on('message', (message: ToRaft) => {
  serve(member, message, (answer) => {
    const isStatus = answer.type === 'status' && answer.status !== undefined;
    post(isStatus ? { ...answer, status: { ...answer.status, thread: report() } } : answer);
    if (answer.type === 'stopped') port.close();
  });
});
member.open();
