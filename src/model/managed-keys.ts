// API keys that the cluster keeps beside those of the settings (contract.md §3.11): made and revoked over the API, the same on
// every node. Their texts are shown once and kept nowhere: only digests are.
import { hash, randomBytes } from 'node:crypto';
import type { Role } from './api-role.ts';

interface ManagedKey {
  readonly id: string;
  /** Name of the holder; that of a key and its successor are the same. */
  readonly name: string;
  readonly role: Role;
  /** SHA-256 of the key, 64 hex digits. */
  readonly digest: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** Name of the API key that made it. */
  readonly createdBy: string;
}

/** Keys of this moment, in the order in which they were made, and the log index of the last change. */
export interface ManagedKeys {
  readonly index: number;
  readonly keys: readonly ManagedKey[];
}

export const noManagedKeys: ManagedKeys = { index: 0, keys: [] };

export const managedKeysMax = 1_000;

/** Characters of a holder's name. */
export const keyNameMax = 128;

const prefix = 'sluice_';
const digestPattern = /^[0-9a-f]{64}$/;

/** Returns a key that is not to be guessed: 256 random bits behind a prefix that scanners for secrets find. */
export const newKeyText = (): string => prefix + randomBytes(32).toString('base64url');

/** A key is random, so that its digest says nothing about it. */
export const keyDigest = (key: string): string => hash('sha256', key);

export const isKeyDigest = (value: unknown): value is string => typeof value === 'string' && digestPattern.test(value);
