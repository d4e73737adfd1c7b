// Failure of a start, in words for the operator: the key of the settings, the error of the system, and the
// remedy.
import { createSecureContext } from 'node:tls';
import { type Address, formatAddress } from './settings/address.ts';
import type { ApiTls } from './settings/control-plane-settings.ts';
import { StoreDamaged, StoreInUse } from './state/store.ts';

const cures: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process listens there; stop it or set another address',
  EADDRNOTAVAIL: 'this machine has no such address',
  EACCES: 'the system does not allow it to this user; take a port of 1024 or above',
  ENOTFOUND: 'the name of the host is not known',
};

/** Returns the failure to listen of `who`, at the address under `key` of the settings. */
export function listenFailure(who: string, key: string, address: Address, error: unknown): Error {
  const cure = cures[codeOf(error)];
  const why = cure === undefined ? messageOf(error) : `${cure} (${codeOf(error)})`;
  return new Error(`${who} cannot listen at ${key} ${formatAddress(address)}: ${why}`, { cause: error });
}

export function storeFailure(storePath: string, error: unknown): Error {
  if (error instanceof StoreDamaged || error instanceof StoreInUse) return error;
  return new Error(`cannot open the store at controlPlane.storePath ${storePath}: ${messageOf(error)}`, {
    cause: error,
  });
}

/** Returns whether the disk takes no write: it has no room, is mounted read-only, or fails. */
export function takesNoWrite(error: unknown): boolean {
  const words = /\b(ENOSPC|EDQUOT|EROFS|EIO)\b|no space left|quota exceeded|read-only file system|input\/output error/i;
  if (!(error instanceof Error)) return false;
  return words.test(error.message) || takesNoWrite(error.cause);
}

/** @throws {Error} when certificate and key cannot be used, before anything depends on them */
export function checkCertificate(tls: ApiTls | undefined): void {
  if (tls === undefined) return;
  const { cert, key, ca } = tls;
  try {
    createSecureContext({ cert, key, ...(ca !== undefined && { ca }) });
  } catch (error) {
    throw new Error(`controlPlane.tls cannot be used, look at cert, key and ca: ${messageOf(error)}`, { cause: error });
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
