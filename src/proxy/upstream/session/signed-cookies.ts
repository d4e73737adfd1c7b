// Signed session cookies (contract.md §7.7): a cookie that carries placements, sealed with AES-256-GCM under a key of the
// cluster (NIST SP 800-38D). Its value is base64url of `version(1) ‖ key id(4) ‖ nonce(12) ‖ ciphertext ‖ tag(16)`; the
// ciphertext has 16 bytes for each placement: `scope(8) ‖ mark of the target(4) ‖ end(4)`, the newest first.
import { createCipheriv, createDecipheriv, createSecretKey, hash, type KeyObject } from 'node:crypto';
import { type CookieResult, cookieKeyId, sealingPlace } from '../../../model/cookie-keys.ts';
import type { Clock } from '../../../util/clock.ts';
import { Nonces } from '../../nonces.ts';
import type { CookieRing } from '../../shared/cookie-ring.ts';
import type { CookiePlan } from '../destination-plan.ts';
import { type CookieScope, OpenedCache, type OpenedCookie, type SignedPlacement } from './opened-cookies.ts';

/** One level of balancing with its cookie. */
export interface SignedLevel {
  readonly scope: CookieScope;
  readonly name: string;
  readonly ttlSeconds: number;
}

/** Placements of one cookie: one more ends the oldest. */
export const signedPlacementsMax = 8;

/** Undefined: the entity of that id is not balanced by a signed cookie. */
export function signedLevel(
  of: 'route' | 'destination',
  id: string,
  { algorithm, cookie }: { readonly algorithm: string; readonly cookie: CookiePlan },
): SignedLevel | undefined {
  if (algorithm !== 'STICKY' || !cookie.signed) return undefined;
  const digest = hash('sha256', `${of}\0${id}`, 'buffer');
  const scope = { high: digest.readInt32BE(0), low: digest.readInt32BE(4) };
  return { scope, name: cookie.name, ttlSeconds: cookie.ttlSeconds };
}

export class SignedCookies {
  readonly #ring: CookieRing;
  readonly #clock: Clock;
  readonly #cache = new OpenedCache();
  #version = -1;
  #keys: readonly CookieCipher[] = [];

  constructor(ring: CookieRing, clock: Clock) {
    this.#ring = ring;
    this.#clock = clock;
  }

  /** True when this proxy has keys. */
  get isKeyed(): boolean {
    if (this.#version !== this.#ring.version) this.#readKeys();
    return this.#keys.length > 0;
  }

  get nowS(): number {
    return Math.floor(this.#clock.nowMs() / 1_000);
  }

  /** Returns the end of a placement that begins now, the latest that a cookie can hold where it is later. */
  endOf({ ttlSeconds }: SignedLevel): number {
    return ttlSeconds < 1 ? 0 : Math.min(this.nowS + ttlSeconds, endSMax);
  }

  /** Returns why a value cannot be opened where it cannot. Ask `isKeyed` before. */
  open(name: string, value: string): OpenedCookie | 'unsigned' | 'stale' | 'forged' {
    const known = this.#cache.get(value);
    if (known !== undefined) return known.name === name ? known : 'forged';
    if (sessionPattern.test(value)) return 'unsigned';
    if (value.length > lengthMax) return 'forged';
    const bytes = Buffer.from(value, 'base64url');
    // Decoding forgives: only the one text of these bytes is what was given out.
    const text = bytes.toString('base64url');
    const count = (bytes.length - headBytes - tagBytes) / placementBytes;
    if (text !== value || bytes[0] !== formatVersion || !Number.isInteger(count) || count < 1) return 'forged';
    const id = bytes.readUInt32BE(1);
    const place = this.#keys.findIndex((key) => key.id === id);
    const plain = place < 0 ? undefined : this.#keys[place]?.open(name, bytes);
    if (plain === undefined) return place < 0 ? 'stale' : 'forged';
    const placements = Array.from({ length: count }, (_, at) => placementAt(plain, at * placementBytes));
    const opened = { name, value: text, placements, isAged: place > this.#sealing };
    this.#cache.add(opened);
    return opened;
  }

  /** Placement of that scope in an opened cookie, or why there is none. */
  placementIn({ placements }: OpenedCookie, { high, low }: CookieScope): SignedPlacement | 'elsewhere' | 'expired' {
    for (let at = 0; at < placements.length; at++) {
      const placement = placements[at];
      if (placement?.high !== high || placement.low !== low) continue;
      return placement.endS !== 0 && placement.endS <= this.nowS ? 'expired' : placement;
    }
    return 'elsewhere';
  }

  /** Value of a cookie of that name; empty without keys. */
  seal(name: string, placements: readonly SignedPlacement[]): string {
    const plain = Buffer.alloc(placements.length * placementBytes);
    for (const [at, { high, low, mark, endS }] of placements.entries()) {
      plain.writeInt32BE(high, at * placementBytes);
      plain.writeInt32BE(low, at * placementBytes + 4);
      plain.writeInt32BE(mark, at * placementBytes + 8);
      plain.writeUInt32BE(endS, at * placementBytes + 12);
    }
    return this.#keys[this.#sealing]?.seal(name, plain).toString('base64url') ?? '';
  }

  /** Number of cookies that are kept opened. */
  get cached(): number {
    return this.#cache.size;
  }

  count(result: CookieResult): void {
    this.#ring.count(result);
  }

  get #sealing(): number {
    return sealingPlace(this.#keys.length);
  }

  #readKeys(): void {
    const read = this.#ring.read();
    if (read === undefined) return;
    this.#version = read.version;
    this.#keys = read.keys.map((key) => new CookieCipher(key));
    this.#cache.clear();
  }
}

const algorithm = 'aes-256-gcm';
const formatVersion = 1;
const nonceBytes = 12;
const tagBytes = 16;
const headBytes = 1 + 4 + nonceBytes;
const placementBytes = 16;
/** Latest end in 32 bits: 2106. */
const endSMax = 2 ** 32 - 1;
/** Characters of a cookie with all placements that it may have. */
const lengthMax = Math.ceil(((headBytes + signedPlacementsMax * placementBytes + tagBytes) * 4) / 3);
/** An id as `newSession` makes it. No signed value is so short. */
const sessionPattern = /^[0-9a-f]{32}$/;

const nonces = new Nonces(nonceBytes);

function placementAt(plain: Buffer, at: number): SignedPlacement {
  return {
    high: plain.readInt32BE(at),
    low: plain.readInt32BE(at + 4),
    mark: plain.readInt32BE(at + 8),
    endS: plain.readUInt32BE(at + 12),
  };
}

class CookieCipher {
  /** Tells keys apart; reveals nothing of them. */
  readonly id: number;
  readonly #key: KeyObject;

  constructor(key: Buffer) {
    this.id = cookieKeyId(key);
    this.#key = createSecretKey(key);
  }

  seal(name: string, plain: Buffer): Buffer {
    const head = Buffer.alloc(headBytes);
    head[0] = formatVersion;
    head.writeUInt32BE(this.id, 1);
    head.set(nonces.next(), headBytes - nonceBytes);
    const cipher = createCipheriv(algorithm, this.#key, head.subarray(-nonceBytes), { authTagLength: tagBytes });
    cipher.setAAD(boundTo(name, head));
    const sealed = cipher.update(plain);
    cipher.final();
    return Buffer.concat([head, sealed, cipher.getAuthTag()]);
  }

  /** Undefined where it was not sealed with this key for a cookie of that name. */
  open(name: string, bytes: Buffer): Buffer | undefined {
    const nonce = bytes.subarray(headBytes - nonceBytes, headBytes);
    const decipher = createDecipheriv(algorithm, this.#key, nonce, { authTagLength: tagBytes });
    decipher.setAAD(boundTo(name, bytes));
    decipher.setAuthTag(bytes.subarray(-tagBytes));
    const plain = decipher.update(bytes.subarray(headBytes, -tagBytes));
    try {
      decipher.final();
      return plain;
    } catch {
      return undefined;
    }
  }
}

const boundTo = (name: string, head: Buffer): Buffer =>
  Buffer.concat([head.subarray(0, headBytes - nonceBytes), Buffer.from(name)]);
