// Backup: the state of the cluster at one index as one file, checked before it is given out (raft.md A20). Rows stay
// sealed as they are stored, so without encryption at rest there is no backup: it would show every secret.
import { createHash } from 'node:crypto';
import { SluiceError } from '../../errors.ts';
import type { DurableState } from '../../state/durable-state.ts';
import { MemoryStore } from '../../state/memory-store.ts';
import type { OpenOptions } from '../../state/open-state.ts';
import type { Clock } from '../../util/clock.ts';
import type { ReplicatedLog } from '../log/replicated-log.ts';

export interface BackupOptions {
  readonly state: DurableState;
  readonly log: Pick<ReplicatedLog, 'readBarrier'>;
  readonly clusterId: () => string | undefined;
  readonly openOptions: OpenOptions;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/** First line of a backup, JSON. The content follows, and its SHA-256 is in here. */
export interface BackupHead {
  readonly backup: 'sluice';
  readonly v: 1;
  readonly clusterId: string;
  /** Everything up to this log index is in it. */
  readonly index: number;
  /** RFC 3339 UTC. */
  readonly createdAt: string;
  /** Fingerprint of the key that the rows are sealed with. */
  readonly keyFingerprint: string;
  /** Lower-case hex. */
  readonly sha256: string;
}

const headMax = 4_096;

export class Backups {
  readonly #options: BackupOptions;

  constructor(options: BackupOptions) {
    this.#options = options;
  }

  /** Everything that was acknowledged before the call. Throws CONFLICT without encryption, UNAVAILABLE without a leader. */
  async make(): Promise<{ readonly head: BackupHead; readonly file: Buffer }> {
    const { state, log, clusterId, clock } = this.#options;
    const { keyFingerprint } = state;
    if (keyFingerprint === undefined) {
      throw new SluiceError('CONFLICT', 'a backup would hold secrets in plain text: set controlPlane.encryption.key');
    }
    await log.readBarrier();
    const { index, content } = await this.#content();
    await this.#verify(content);
    const head: BackupHead = {
      backup: 'sluice',
      v: 1,
      clusterId: clusterId() ?? '',
      index,
      createdAt: new Date(clock.nowMs()).toISOString(),
      keyFingerprint,
      sha256: sha256(content),
    };
    return { head, file: Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), content]) };
  }

  async #content(): Promise<{ index: number; content: Buffer }> {
    const image = await this.#options.state.image();
    try {
      const slices: Uint8Array[] = [];
      for await (const slice of image.content) slices.push(slice);
      return { index: image.index, content: Buffer.concat(slices) };
    } finally {
      await image.close();
    }
  }

  /** Opens it as a restore would: every row and the state hash are checked. */
  async #verify(content: Buffer): Promise<void> {
    const { state, openOptions } = this.#options;
    const { store } = await state.build(new MemoryStore(), slicesOf(content), openOptions);
    await store.close();
  }
}

/** Returns head and content of a backup file; throws an Error that names its problem. */
export function readBackup(file: Buffer): { readonly head: BackupHead; readonly content: Buffer } {
  const end = file.subarray(0, headMax).indexOf('\n');
  const head = end < 0 ? undefined : headOf(file.subarray(0, end).toString());
  if (head === undefined) throw new Error('the file is no backup that this program can read');
  const content = file.subarray(end + 1);
  if (sha256(content) !== head.sha256) throw new Error('the backup is damaged: its SHA-256 differs');
  return { head, content };
}

export async function* slicesOf(content: Buffer): AsyncGenerator<Uint8Array> {
  yield content;
}

function headOf(line: string): BackupHead | undefined {
  try {
    const head: unknown = JSON.parse(line);
    return isHead(head) ? head : undefined;
  } catch {
    return undefined;
  }
}

function isHead(value: unknown): value is BackupHead {
  if (typeof value !== 'object' || value === null) return false;
  const fields: Partial<Record<keyof BackupHead, unknown>> = value;
  const texts = [fields.clusterId, fields.createdAt, fields.keyFingerprint, fields.sha256];
  return (
    fields.backup === 'sluice' &&
    fields.v === 1 &&
    Number.isSafeInteger(fields.index) &&
    texts.every((text) => typeof text === 'string')
  );
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
