// TLS protocol versions, oldest first, and their order.
export const tlsVersions = ['TLSv1_0', 'TLSv1_1', 'TLSv1_2', 'TLSv1_3'] as const;

export type TlsVersion = (typeof tlsVersions)[number];

/**
 * Returns whether both are versions and `min` is the newer one. A text that is no version is rejected by another rule.
 */
export const isNewer = (min: TlsVersion | undefined, max: TlsVersion | undefined): boolean => {
  const [low, high] = [rank(min), rank(max)];
  return low >= 0 && high >= 0 && low > high;
};

const rank = (version: TlsVersion | undefined): number => (version === undefined ? -1 : tlsVersions.indexOf(version));
