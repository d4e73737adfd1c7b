// Keys of signed session cookies (contract.md §7.7): made and rotated by the leader, the same in every proxy of the
// cluster. Runtime state beside the configuration and no part of it; secret.
import { hash } from 'node:crypto';

export interface CookieKey {
  /** 32 bytes in base64. */
  readonly key: string;
  /** Unix milliseconds. */
  readonly madeAt: number;
}

/** Keys of this moment, the newest first, and the log index of the last change. */
export interface CookieKeys {
  readonly index: number;
  readonly keys: readonly CookieKey[];
}

export const noCookieKeys: CookieKeys = { index: 0, keys: [] };

/** Keys that are kept at a time; the oldest goes when another is made. */
export const cookieKeysMax = 8;

export const cookieKeyBytes = 32;

/**
 * Results of a choice by a signed cookie. `kept`: the placement in it holds. All others are placed anew: `moved`: its target
 * does not serve; `new`: there is no cookie; `unsigned`: it is the id of an unsigned session; `elsewhere`: it has no
 * placement here; `expired`: the time of the placement is over; `stale`: its key is not known; `forged`: it is none of
 * these; `unkeyed`: this proxy has no keys.
 */
export const cookieResults = [
  'kept',
  'moved',
  'new',
  'unsigned',
  'elsewhere',
  'expired',
  'stale',
  'forged',
  'unkeyed',
] as const;

export type CookieResult = (typeof cookieResults)[number];

/** Interval at which the leader makes another key, in milliseconds. */
export const cookieKeyRotationMs = 24 * 60 * 60 * 1_000;

const keyPattern = /^[A-Za-z0-9+/]{43}=$/;

export const isCookieKey = (value: unknown): value is string => typeof value === 'string' && keyPattern.test(value);

/** Place of the key that seals: the newest but one, for a proxy may not have heard of the newest. −1 without keys. */
export const sealingPlace = (count: number): number => Math.min(1, count - 1);

/** Number by which a cookie names its key; reveals nothing of the key. */
export const cookieKeyId = (key: Uint8Array): number =>
  hash('sha256', Buffer.concat([Buffer.from('sluice cookie key\0'), key]), 'buffer').readUInt32BE();

/** The same for people: 8 hex digits. */
export const cookieKeyName = (key: string): string =>
  cookieKeyId(Buffer.from(key, 'base64')).toString(16).padStart(8, '0');

/** Use of the key at that place: `next` seals after the next rotation. */
export function cookieKeyUse(place: number, count: number): 'next' | 'seals' | 'opens' {
  const sealing = sealingPlace(count);
  return place === sealing ? 'seals' : place < sealing ? 'next' : 'opens';
}
