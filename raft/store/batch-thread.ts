// Entry of the thread that gives LevelDB one large batch (large-batch.ts). It says so when the batch is written; whatever
// else happens ends it with an error.
import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { ClassicLevel } from 'classic-level';

import type { LargeWrite } from './large-batch.ts';

if (parentPort === null) throw new Error('raft/store/batch-thread.ts runs in a worker thread only');
const location: string = workerData;
// Whoever waits for this thread has the database open: this is one more user of it.
const options = { createIfMissing: false, multithreading: true } as const;
const database = new ClassicLevel<Uint8Array, Uint8Array>(location, {
  ...options,
  keyEncoding: 'view',
  valueEncoding: 'view',
});
await database.open();
const [message] = await once(parentPort, 'message');
const write: LargeWrite | undefined = message;
try {
  if (write !== undefined) await database.batch([...write.operations], { sync: write.sync });
} finally {
  await database.close();
}
if (write !== undefined) parentPort.postMessage('written');
