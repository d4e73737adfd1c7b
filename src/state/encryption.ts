// Encryption at rest: AES-256-GCM, `nonce(12) ‖ ciphertext ‖ tag(16)` (contract.md §1.3). Nonces follow from what they
// protect, so writing a row needs no chance: two rows share a nonce only if index, key and content are the same.
import { createCipheriv, createDecipheriv, createHash, createHmac, hash, randomBytes } from 'node:crypto';
import { drain } from '../util/time-slice.ts';
import type { CommandSeal } from './command-codec.ts';
import { bytesOf, type RowDigests } from './state-hash.ts';

const encryptionKeyBytes = 32;

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
/** Bytes that one step seals. */
const stepBytes = 1024 * 1024;

/** Cipher for all uses of the at-rest key. Holds the key; nothing of it can be read back. */
export class Cipher implements CommandSeal {
  /** Fingerprint, the same on all nodes that have the same key; reveals nothing about the key. 32 hex digits. */
  readonly fingerprint: string;
  readonly #key: Uint8Array;
  readonly #digestSalt: Buffer;
  readonly #random: (bytes: number) => Uint8Array;

  constructor(key: Uint8Array, random: (bytes: number) => Uint8Array = randomBytes) {
    if (key.length !== encryptionKeyBytes) throw new RangeError(`an encryption key has ${encryptionKeyBytes} bytes`);
    this.#key = Uint8Array.from(key);
    this.#digestSalt = this.#derive('sluice row digest');
    this.fingerprint = this.#derive('sluice key fingerprint').toString('hex', 0, 16);
    this.#random = random;
  }

  /** Digest of a sealed row. Keyed, because a plain one would let a reader of the disk try values until one fits. */
  readonly digests: RowDigests = {
    of: (key, body) =>
      hash(
        'sha256',
        Buffer.concat([this.#digestSalt, Buffer.from(`${key}\0`), bytesOf(body)]),
        'buffer',
      ).readBigUInt64BE(),
    begun: (key) => createHash('sha256').update(this.#digestSalt).update(`${key}\0`),
  };

  /** Bound to its key: a sealed body cannot be moved to another row. In steps, and in parts, for a row may be long. */
  *sealRow(key: string, index: number, digest: bigint, body: Uint8Array): Generator<void, Uint8Array[]> {
    const nonce = createHmac('sha256', this.#key).update(`n\0${index}\0${key}\0${digest}`).digest();
    return yield* this.#seal(nonce.subarray(0, nonceBytes), key, body);
  }

  /** @throws when the bytes were not sealed with this key for this row, or were changed */
  openRow(key: string, sealed: Uint8Array): Buffer {
    return this.#open(key, sealed);
  }

  /** A command has no index yet, so its nonce is drawn: the proposer may use chance, apply may not. */
  sealCommand(plain: Uint8Array): Uint8Array {
    return Buffer.concat(drain(this.#seal(this.#random(nonceBytes), 'command', plain)));
  }

  openCommand(sealed: Uint8Array): Uint8Array {
    return this.#open('command', sealed);
  }

  #derive(purpose: string): Buffer {
    return createHmac('sha256', this.#key).update(purpose).digest();
  }

  *#seal(nonce: Uint8Array, context: string, plain: Uint8Array): Generator<void, Uint8Array[]> {
    const cipher = createCipheriv(algorithm, this.#key, nonce, { authTagLength: tagBytes });
    cipher.setAAD(Buffer.from(context));
    const parts = [nonce];
    for (let from = 0; from < plain.length; from += stepBytes) {
      parts.push(cipher.update(plain.subarray(from, from + stepBytes)));
      yield;
    }
    cipher.final();
    parts.push(cipher.getAuthTag());
    return parts;
  }

  #open(context: string, sealed: Uint8Array): Buffer {
    if (sealed.length < nonceBytes + tagBytes) throw new RangeError('too short for a sealed value');
    const end = sealed.length - tagBytes;
    const decipher = createDecipheriv(algorithm, this.#key, sealed.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    });
    decipher.setAAD(Buffer.from(context));
    decipher.setAuthTag(sealed.subarray(end));
    return Buffer.concat([decipher.update(sealed.subarray(nonceBytes, end)), decipher.final()]);
  }
}
