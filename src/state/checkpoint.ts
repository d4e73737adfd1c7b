// A state written out whole, and a store built from that: how a node that lags behind the kept log catches up
// (architecture.md §7, points 4 and 5). Nothing is decided here; the rows are those of another node at the same index.
import { bytesToRows, rowsToBytes } from './checkpoint-rows.ts';
import type { Cipher } from './encryption.ts';
import { formatVersion, type Identity, markerFor } from './open-state.ts';
import type { LogStamp, Position } from './overlay.ts';
import { RowCodec } from './row-codec.ts';
import { isLocal, keys } from './row-keys.ts';
import type { Change, Store } from './store.ts';

export interface StateImage extends LogStamp {
  readonly index: number;
  readonly content: AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

const batchBytes = 4 * 1024 * 1024;
const noHash = '0'.repeat(16);

/** The state as it is on disk now; rounds may be written meanwhile. */
export async function imageOf(store: Store): Promise<StateImage> {
  const image = store.image();
  try {
    const row = await image.get(keys.position);
    const body = row && new RowCodec(undefined).decode(keys.position, row)?.body;
    const position = body && (JSON.parse(body.toString()) as Position);
    if (position?.entry === undefined) throw new Error('nothing of the log is applied yet');
    return { index: position.applied, ...position.entry, content: rowsToBytes(image), close: () => image.close() };
  } catch (error) {
    await image.close();
    throw error;
  }
}

/**
 * Fills an empty store. It belongs to `identity` afterwards: opening it counts no further start. Nothing is checked but
 * the framing; opening the store checks each row, the state hash and what follows from them.
 */
export async function fillStore(
  store: Store,
  content: AsyncIterable<Uint8Array>,
  identity: Identity,
  cipher: Cipher | undefined,
): Promise<void> {
  const codec = new RowCodec(cipher);
  const before: Identity = { ...identity, boot: identity.boot - 1 };
  const mark = { applied: 0, hash: noHash, boot: before.boot };
  let batch: Change[] = [
    codec.encodeLocal(keys.local.format, { version: formatVersion }),
    codec.encodeLocal(keys.local.encryption, markerFor(cipher)),
    codec.encodeLocal(keys.local.identity, before),
  ];
  let bytes = 0;
  for await (const [key, value] of bytesToRows(content)) {
    if (isLocal(key)) throw new Error(`the checkpoint holds the row ${JSON.stringify(key)} of another node`);
    batch.push({ key, value });
    bytes += value.length;
    if (bytes < batchBytes) continue;
    await store.write(batch, mark);
    batch = [];
    bytes = 0;
  }
  await store.write(batch, mark);
}
