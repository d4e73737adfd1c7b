// Everything between a draft and its result on one node, over a store of the test's choice.

import { randomBytes } from 'node:crypto';
import { Proposer } from '../../src/cluster/log/proposer.ts';
import type { Draft } from '../../src/state/command.ts';
import { DurableState } from '../../src/state/durable-state.ts';
import { MemoryStore } from '../../src/state/memory-store.ts';
import { SpecText } from '../../src/state/spec-text.ts';
import type { Store } from '../../src/state/store.ts';
import type { Clock } from '../../src/util/clock.ts';
import { LocalLog } from './local-log.ts';
import { ManualClock } from './manual-clock.ts';

export interface NodeOfOne {
  readonly state: DurableState;
  readonly log: Proposer;
  close(): Promise<void>;
}

export async function nodeOfOne({
  store = new MemoryStore(),
  clock = new ManualClock(),
  encryptionKey,
}: {
  store?: Store;
  clock?: Clock;
  encryptionKey?: Uint8Array | undefined;
} = {}): Promise<NodeOfOne> {
  const state = await DurableState.open(store, { randomBytes, encryptionKey });
  const port = new LocalLog({ nodeId: 'single', applied: state.view.applied, clock });
  const log = new Proposer({ port, state, clock, nodeId: 'single' });
  const close = async (): Promise<void> => {
    await log.stop();
    await state.close();
  };
  return { state, log, close };
}

export const routeDraft = (id: string, fields: object = {}): Draft => ({
  op: 'put',
  kind: 'routes',
  id,
  mode: 'create',
  spec: new SpecText({ id, name: id, ...fields }),
});
