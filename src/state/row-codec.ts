// Rows as they lie on disk. A plain row is `digest(8) ‖ body`, a sealed one what `Cipher` makes; either way a changed byte
// is noticed, which LevelDB by itself does not do (raft.md A6).

import { drain } from '../util/time-slice.ts';
import type { Row } from './config-state.ts';
import type { Cipher } from './encryption.ts';
import { isSecret } from './row-keys.ts';
import { bytesOf, plainDigests, type RowDigests } from './state-hash.ts';
import type { Change, RowBytes } from './store.ts';

const digestBytes = 8;
const copiedMax = 64 * 1024;

export interface OpenedRow {
  readonly key: string;
  readonly body: Buffer;
  readonly digest: bigint;
}

export class RowCodec {
  readonly #cipher: Cipher | undefined;

  constructor(cipher: Cipher | undefined) {
    this.#cipher = cipher;
  }

  readonly digests: RowDigests = {
    of: (key, body) => this.#digestsFor(key).of(key, body),
    begun: (key) => this.#digestsFor(key).begun(key),
  };

  /** In steps, for a row may be long. */
  *encode({ key, index, body: content, digest }: Omit<Row, 'isNew'>): Generator<void, Change> {
    if (content === undefined) return { key, value: undefined };
    const body = bytesOf(content);
    const cipher = this.#cipherFor(key);
    return {
      key,
      value: cipher === undefined ? withDigest(digest, body) : yield* cipher.sealRow(key, index, digest, body),
    };
  }

  /** A row of this node alone. */
  encodeLocal(key: string, content: object): Change {
    const body = Buffer.from(JSON.stringify(content));
    return drain(this.encode({ key, index: 0, body, digest: this.digests.of(key, body) }));
  }

  /** Undefined when the bytes are not what was written under this key. */
  decode(key: string, value: Uint8Array): OpenedRow | undefined {
    const cipher = this.#cipherFor(key);
    const body = cipher === undefined ? behindDigest(value) : opened(cipher, key, value);
    if (body === undefined) return undefined;
    const digest = this.digests.of(key, body);
    if (cipher === undefined && viewOf(value).readBigUInt64BE() !== digest) return undefined;
    return { key, body, digest };
  }

  #digestsFor(key: string): RowDigests {
    return this.#cipherFor(key)?.digests ?? plainDigests;
  }

  #cipherFor(key: string): Cipher | undefined {
    return isSecret(key) ? this.#cipher : undefined;
  }
}

const viewOf = ({ buffer, byteOffset, length }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, length);

function behindDigest(value: Uint8Array): Buffer | undefined {
  return value.length < digestBytes ? undefined : viewOf(value).subarray(digestBytes);
}

/** A long body is not copied behind its digest: memory of that size, new to the process, takes longer than all else. */
function withDigest(digest: bigint, body: Uint8Array): RowBytes {
  const isLong = body.length > copiedMax;
  const value = Buffer.allocUnsafe(isLong ? digestBytes : digestBytes + body.length);
  value.writeBigUInt64BE(digest);
  if (isLong) return [value, body];
  value.set(body, digestBytes);
  return value;
}

function opened(cipher: Cipher, key: string, sealed: Uint8Array): Buffer | undefined {
  try {
    return cipher.openRow(key, sealed);
  } catch {
    return undefined;
  }
}
