// A thread that takes from shared buckets as fast as it can; told what to do by its workerData, says what it got.
import { parentPort, workerData } from 'node:worker_threads';
import type { BucketRate } from '../../src/model/limit-rates.ts';
import { addressKey } from '../../src/proxy/shared/bucket-key.ts';
import { TokenBuckets } from '../../src/proxy/shared/token-buckets.ts';

export interface TakerTask {
  readonly memory: SharedArrayBuffer;
  readonly rate: BucketRate;
  readonly addresses: readonly string[];
  readonly tries: number;
  /** All takers start together: each adds one and waits until `takers` have. */
  readonly gate: SharedArrayBuffer;
  readonly takers: number;
}

const { memory, rate, addresses, tries, gate, takers }: TakerTask = workerData;
const buckets = new TokenBuckets(memory, rate, 1);
const taken = addresses.map(() => 0);
const cell = new Int32Array(gate);
Atomics.add(cell, 0, 1);
while (Atomics.load(cell, 0) < takers);
for (let round = 0; round < tries; round++) {
  addresses.forEach((address, i) => {
    if (buckets.take(addressKey(address), 5) === 0) taken[i] = (taken[i] ?? 0) + 1;
  });
}
parentPort?.postMessage(taken);
