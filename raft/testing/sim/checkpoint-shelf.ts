// Checkpoint files of one simulated disk. The bytes only have a length and a pattern; what a file means is found
// by its hash in the world's library.
import type { CheckpointMeta } from '../../core/types.ts';
import type { CheckpointCollector, CheckpointReader, CheckpointStore } from '../../store/checkpoint-store.ts';

export type Later = (ms: number, run: () => void) => void;

export class CheckpointShelf {
  /** File name → hash and length. Survives crashes: a file is renamed into place only when it is complete. */
  readonly files = new Map<string, { readonly sha256: string; readonly size: number }>();
  readonly partial = new Map<string, number>();

  /** The files as a process uses them; callbacks of an ended process never run. */
  open(later: Later): CheckpointStore {
    const pins = new Map<string, number>();
    return {
      read: (meta) => this.#read(meta, later, pins),
      collect: (meta) => this.#collect(meta, later),
      prune: (keep) => {
        const names = new Set(keep.map(({ file }) => file));
        for (const name of this.files.keys()) if (!names.has(name) && !pins.get(name)) this.files.delete(name);
      },
    };
  }

  #read(meta: CheckpointMeta, later: Later, pins: Map<string, number>): CheckpointReader {
    pins.set(meta.file, (pins.get(meta.file) ?? 0) + 1);
    return {
      read: (offset, length, done) => {
        later(0.2, () => done(this.files.has(meta.file) ? content(meta.sha256, offset, length) : undefined));
      },
      close: () => pins.set(meta.file, (pins.get(meta.file) ?? 1) - 1),
    };
  }

  #collect(meta: CheckpointMeta, later: Later): CheckpointCollector {
    const { partial, files } = this;
    const key = meta.sha256;
    let held = partial.get(key) ?? 0;
    return {
      get held() {
        return held;
      },
      append: (data, done) => {
        later(0.3, () => {
          const ok = matches(data, content(meta.sha256, held, data.length));
          held += ok ? data.length : 0;
          partial.set(key, held);
          done(ok);
        });
      },
      finish: (done) => {
        later(1, () => {
          if (held !== meta.size) {
            done(undefined);
            return;
          }
          const file = `received-${meta.index}`;
          files.set(file, { sha256: meta.sha256, size: meta.size });
          partial.delete(key);
          done({ ...meta, file });
        });
      },
      discard: () => {
        partial.delete(key);
      },
    };
  }
}

function content(sha256: string, offset: number, length: number): Uint8Array {
  const start = sha256.charCodeAt(0) + sha256.charCodeAt(sha256.length - 1);
  return Uint8Array.from({ length }, (_, i) => start + offset + i);
}

function matches(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
