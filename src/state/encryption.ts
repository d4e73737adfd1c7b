// Encryption at rest: AES-256-GCM, `nonce(12) ‖ ciphertext ‖ tag(16)` (contract.md §1.3). Nonces follow from what they
// protect, so writing a row needs no chance: two rows share a nonce only if index, key and content are the same.
import { createCipheriv, createDecipheriv, createHmac, hash, randomBytes } from 'node:crypto';
import type { CommandSeal } from './command-codec.ts';
import { bytesOf, type DigestOf } from './state-hash.ts';

const encryptionKeyBytes = 32;

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** What the at-rest key is used for. Holds the key; nothing of it can be read back. */
export class Cipher implements CommandSeal {
  /** Same on all nodes that have the same key; says nothing about the key. 32 hex digits. */
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
  readonly digestOf: DigestOf = (key, body) =>
    hash(
      'sha256',
      Buffer.concat([this.#digestSalt, Buffer.from(`${key}\0`), bytesOf(body)]),
      'buffer',
    ).readBigUInt64BE();

  /** Bound to its key: a sealed body cannot be moved to another row. */
  sealRow(key: string, index: number, digest: bigint, body: Uint8Array): Buffer {
    const nonce = createHmac('sha256', this.#key).update(`n\0${index}\0${key}\0${digest}`).digest();
    return this.#seal(nonce.subarray(0, nonceBytes), key, body);
  }

  /** @throws when the bytes were not sealed with this key for this row, or were changed */
  openRow(key: string, sealed: Uint8Array): Buffer {
    return this.#open(key, sealed);
  }

  /** A command has no index yet, so its nonce is drawn: the proposer may use chance, apply may not. */
  sealCommand(plain: Uint8Array): Uint8Array {
    return this.#seal(this.#random(nonceBytes), 'command', plain);
  }

  openCommand(sealed: Uint8Array): Uint8Array {
    return this.#open('command', sealed);
  }

  #derive(purpose: string): Buffer {
    return createHmac('sha256', this.#key).update(purpose).digest();
  }

  #seal(nonce: Uint8Array, context: string, plain: Uint8Array): Buffer {
    const cipher = createCipheriv(algorithm, this.#key, nonce, { authTagLength: tagBytes });
    cipher.setAAD(Buffer.from(context));
    return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
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
