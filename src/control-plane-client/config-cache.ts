// The copy of the configuration that was installed last, from which a proxy serves while no control plane answers. Every
// byte of the file is accounted for: a copy that is damaged, of another kind or of another key is moved aside and never
// served.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectory } from '../../disk/directory.ts';
import { writeDurably } from '../../disk/durable-file.ts';
import type { CookieKeys } from '../model/cookie-keys.ts';
import { isObject } from '../model/json-object.ts';
import { jsonOf } from '../util/malformed-json.ts';
import { cookieKeysOf } from './remote-fact.ts';
import type { LogPlace } from './remote-source.ts';

export interface Copy {
  readonly place: LogPlace | undefined;
  /** Unix milliseconds. */
  readonly writtenMs: number;
  readonly sha256: string;
  /** As the stream carried it. */
  readonly data: string;
  /** Keys of signed session cookies; absent where there were none. */
  readonly cookieKeys?: CookieKeys;
}

/** The copy is there and must not be served. */
export class CopyDamaged extends Error {
  override readonly name = 'CopyDamaged';
}

const copyName = 'last-good';

const magic = { plain: 'sluice last-good 1 plain ', sealed: 'sluice last-good 1 aes-256-gcm ' } as const;
const digestLength = 64;
const nonceLength = 12;
const tagLength = 16;

/** The file: `<magic><SHA-256 of the rest, hex>\n<rest>`; the rest is JSON, or nonce ‖ ciphertext ‖ tag. */
export function encodeCopy(copy: Copy, key: Uint8Array | undefined): Buffer {
  const text = Buffer.from(JSON.stringify(copy));
  const rest = key === undefined ? text : seal(text, key);
  return Buffer.concat([Buffer.from(`${key === undefined ? magic.plain : magic.sealed}${digestOf(rest)}\n`), rest]);
}

/** @throws {CopyDamaged} with a sentence that names the problem */
export function decodeCopy(file: Buffer, key: Uint8Array | undefined): Copy {
  const kind = (['plain', 'sealed'] as const).find((one) =>
    file.subarray(0, magic[one].length).equals(bytes(magic[one])),
  );
  if (kind === undefined) throw new CopyDamaged('it is no copy of this version');
  const start = magic[kind].length + digestLength + 1;
  const rest = file.subarray(start);
  const stated = file.subarray(magic[kind].length, start);
  if (!stated.equals(bytes(`${digestOf(rest)}\n`)))
    throw new CopyDamaged('its bytes have changed since it was written');
  if (kind === 'plain' && key !== undefined)
    throw new CopyDamaged('it is not encrypted, and proxy.encryption.key is set');
  if (kind === 'sealed' && key === undefined) throw new CopyDamaged('it is encrypted: proxy.encryption.key is not set');
  return copyOf(key === undefined ? rest : unseal(rest, key));
}

export interface LastGoodOptions {
  readonly storePath: string;
  readonly key: Uint8Array | undefined;
}

export class LastGood {
  readonly #storePath: string;
  readonly #key: Uint8Array | undefined;
  #writing: Promise<void> = Promise.resolve();
  #next: Copy | undefined;

  constructor({ storePath, key }: LastGoodOptions) {
    this.#storePath = storePath;
    this.#key = key;
  }

  get file(): string {
    return join(this.#storePath, copyName);
  }

  /**
   * Undefined when there is none. Rejects with CopyDamaged when it must not be served, and with the error of the system
   * when it cannot be read.
   */
  async read(): Promise<Copy | undefined> {
    const file = await readFile(this.file).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
      throw error;
    });
    return file && decodeCopy(file, this.#key);
  }

  /** For a copy that cannot be used. */
  async moveAside(): Promise<void> {
    await rename(this.file, `${this.file}.damaged`);
  }

  /** One after the other; of those that wait the newest is written. Rejects when it cannot be kept. */
  write(copy: Copy): Promise<void> {
    this.#next = copy;
    this.#writing = this.#writing
      .catch(() => undefined)
      .then(async () => {
        const next = this.#next;
        this.#next = undefined;
        if (next === undefined) return;
        await makeDirectory(this.#storePath);
        await writeDurably(this.file, encodeCopy(next, this.#key));
      });
    return this.#writing;
  }

  /** Resolves when nothing is being written. */
  async settled(): Promise<void> {
    await this.#writing.catch(() => undefined);
  }
}

function copyOf(text: Buffer): Copy {
  const value = jsonOf(text);
  if (!isObject(value)) throw new CopyDamaged('it holds no configuration');
  const { place, writtenMs, sha256, data } = value;
  const cookieKeys = cookieKeysOf(value.cookieKeys);
  if (typeof writtenMs !== 'number' || typeof sha256 !== 'string' || typeof data !== 'string') {
    throw new CopyDamaged('it holds no configuration');
  }
  return { place: placeOf(place), writtenMs, sha256, data, ...(cookieKeys !== undefined && { cookieKeys }) };
}

const placeOf = (value: unknown): LogPlace | undefined =>
  isObject(value) && typeof value.clusterId === 'string' && typeof value.index === 'number'
    ? { clusterId: value.clusterId, index: value.index }
    : undefined;

function seal(text: Buffer, key: Uint8Array): Buffer {
  const nonce = randomBytes(nonceLength);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  return Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
}

function unseal(rest: Buffer, key: Uint8Array): Buffer {
  if (rest.length < nonceLength + tagLength) throw new CopyDamaged('it is too short');
  const decipher = createDecipheriv('aes-256-gcm', key, rest.subarray(0, nonceLength));
  decipher.setAuthTag(rest.subarray(-tagLength));
  try {
    return Buffer.concat([decipher.update(rest.subarray(nonceLength, -tagLength)), decipher.final()]);
  } catch {
    throw new CopyDamaged('it cannot be decrypted with proxy.encryption.key');
  }
}

const digestOf = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');

const bytes = (text: string): Buffer => Buffer.from(text);
