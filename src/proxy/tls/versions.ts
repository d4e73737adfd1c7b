// TLS versions in the form of OpenSSL's options.
import { DEFAULT_CIPHERS, type SecureVersion } from 'node:tls';
import { listenerDefaults } from '../../model/defaults.ts';
import type { TlsVersion } from '../../model/tls-version.ts';

const names: Readonly<Record<TlsVersion, SecureVersion>> = {
  TLSv1_0: 'TLSv1',
  TLSv1_1: 'TLSv1.1',
  TLSv1_2: 'TLSv1.2',
  TLSv1_3: 'TLSv1.3',
};

export interface VersionRange {
  /** Default: TLS 1.2, or `maxVersion` where that is older. */
  readonly minVersion?: TlsVersion | undefined;
  /** Default: the newest there is. */
  readonly maxVersion?: TlsVersion | undefined;
}

/** Options for `tls.createSecureContext` and all that is made on it. */
export interface VersionOptions {
  readonly minVersion: SecureVersion;
  readonly maxVersion: SecureVersion;
  readonly ciphers?: string;
}

/** TLS 1.0 and 1.1 sign with SHA-1, which OpenSSL permits at its lowest security level only. */
export function versionOptions({ minVersion, maxVersion }: VersionRange): VersionOptions {
  const isOld = (version: TlsVersion | undefined): boolean => version === 'TLSv1_0' || version === 'TLSv1_1';
  const min = minVersion ?? (isOld(maxVersion) ? maxVersion : undefined) ?? listenerDefaults.tls.minVersion;
  return {
    minVersion: names[min],
    maxVersion: names[maxVersion ?? 'TLSv1_3'],
    ...(isOld(min) ? { ciphers: `${DEFAULT_CIPHERS}:@SECLEVEL=0` } : {}),
  };
}
