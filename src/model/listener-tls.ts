// How a listener ends TLS (contract.md §2.2).
import { listenerDefaults } from './defaults.ts';
import { Nested, OneOf, Pem, problemIf, Rules } from './field.ts';
import { isNewer, type TlsVersion, tlsVersions } from './tls-version.ts';

export const clientAuthModes = ['none', 'optional', 'require'] as const;

@Rules<ListenerClientAuth>({
  verifyingNeedsCa: ({ mode, ca }) =>
    problemIf(
      ca === undefined && (mode === 'optional' || mode === 'require'),
      '/ca',
      `is required when mode is ${mode}`,
    ),
})
export class ListenerClientAuth {
  @OneOf(
    clientAuthModes,
    'Whether clients present a certificate. `optional`: one that is presented must verify, or the handshake fails.',
    { default: listenerDefaults.tls.clientAuth.mode },
  )
  readonly mode?: (typeof clientAuthModes)[number];

  @Pem('Certificates that client certificates must lead to, as PEM text or a secret reference.')
  readonly ca?: string;
}

@Rules<ListenerTls>({
  versionsInOrder: ({ minVersion, maxVersion }) =>
    problemIf(
      isNewer(minVersion ?? listenerDefaults.tls.minVersion, maxVersion),
      '/maxVersion',
      `must not be below minVersion, ${minVersion ?? `${listenerDefaults.tls.minVersion} by default`}`,
    ),
})
export class ListenerTls {
  @Pem('Certificate chain, as PEM text or a secret reference.', {
    required: true,
    example: '{{secret:value:edge-cert}}',
  })
  readonly cert!: string;

  @Pem('Private key, as PEM text or a secret reference.', { required: true, example: '{{secret:value:edge-key}}' })
  readonly key!: string;

  @OneOf(tlsVersions, 'Oldest TLS version to accept.', { default: listenerDefaults.tls.minVersion })
  readonly minVersion?: TlsVersion;

  @OneOf(tlsVersions, 'Newest TLS version to accept. Absent: the newest there is.')
  readonly maxVersion?: TlsVersion;

  @Nested(ListenerClientAuth, 'Client certificates.')
  readonly clientAuth?: ListenerClientAuth;
}
