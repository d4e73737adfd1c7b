// TLS of a listener (contract.md §2.2).
import { allOf, has, hasOrLacks, inOrder, noneOf, whenever } from './constraint.ts';
import { listenerDefaults } from './defaults.ts';
import { Flag, ListOf, Nested, OneOf, Pem } from './field.ts';
import { certificatesMax } from './listener-limits.ts';
import { problemIf, Rules } from './rule.ts';
import { hostPattern } from './scalar.ts';
import { isNewer, type TlsVersion, tlsVersions } from './tls-version.ts';

export const listenerTlsModes = ['terminate', 'passthrough'] as const;
export const unknownServerNames = ['default', 'reject'] as const;
export const clientAuthModes = ['none', 'optional', 'require', 'unverified'] as const;

@Rules<ListenerClientAuth>(
  {
    verifyingNeedsCa: ({ mode, ca }) =>
      problemIf(
        ca === undefined && (mode === 'optional' || mode === 'require'),
        '/ca',
        `is required when mode is ${mode}`,
      ),
  },
  whenever(has('mode', 'optional', 'require'), has('ca')),
)
export class ListenerClientAuth {
  @OneOf(
    clientAuthModes,
    'Whether clients present a certificate. `optional`: one that is presented must verify, or the handshake fails. `unverified`: one is asked for, any or none is accepted, and none is an identity.',
    { default: listenerDefaults.tls.clientAuth.mode },
  )
  readonly mode?: (typeof clientAuthModes)[number];

  @Pem('Certificates that client certificates must lead to, as PEM text or a secret reference.')
  readonly ca?: string;
}

export class ListenerCertificate {
  @Pem('Certificate chain, as PEM text or a secret reference. Its DNS names decide who gets it.', {
    required: true,
    example: '{{secret:value:shop-cert}}',
  })
  readonly cert!: string;

  @Pem('Private key, as PEM text or a secret reference.', { required: true, example: '{{secret:value:shop-key}}' })
  readonly key!: string;

  @ListOf(
    hostPattern,
    'Server names that get this certificate, before the names in any certificate count: an exact one before the longest `*.suffix`, then `*`; the first certificate on a tie.',
    { default: [] },
  )
  readonly serverNames?: readonly string[];
}

/** Fields of handshakes that the listener ends itself. */
const endingFields = [
  'cert',
  'key',
  'certificates',
  'unknownServerName',
  'strictServerName',
  'minVersion',
  'maxVersion',
  'clientAuth',
] as const;

@Rules<ListenerTls>(
  {
    versionsInOrder: ({ minVersion, maxVersion }) =>
      problemIf(
        isNewer(minVersion ?? listenerDefaults.tls.minVersion, maxVersion),
        '/maxVersion',
        `must not be below minVersion, ${minVersion ?? `${listenerDefaults.tls.minVersion} by default`}`,
      ),
    terminatingNeedsCert: ({ mode, cert }) =>
      problemIf(mode !== 'passthrough' && cert === undefined, '/cert', 'is required'),
    terminatingNeedsKey: ({ mode, key }) =>
      problemIf(mode !== 'passthrough' && key === undefined, '/key', 'is required'),
    passthroughEndsNothing: (tls) =>
      tls.mode === 'passthrough'
        ? endingFields.flatMap((name) =>
            problemIf(tls[name] !== undefined, `/${name}`, 'must not stand beside mode passthrough'),
          )
        : [],
  },
  whenever(hasOrLacks('mode', 'terminate'), allOf(has('cert'), has('key'))),
  whenever(has('mode', 'passthrough'), noneOf(...endingFields.map((name) => has(name)))),
  inOrder('minVersion', 'maxVersion', tlsVersions, listenerDefaults.tls.minVersion),
)
export class ListenerTls {
  @OneOf(
    listenerTlsModes,
    '`terminate`: the listener ends TLS. `passthrough`, for protocol tcp: the bytes go on as they came, by the server name of the first message; no other field stands beside it.',
    { default: listenerDefaults.tls.mode },
  )
  readonly mode?: (typeof listenerTlsModes)[number];

  @Pem(
    'Certificate chain for clients that name no server or one that no other certificate has. PEM or a secret. Required unless mode is passthrough.',
    { example: '{{secret:value:edge-cert}}' },
  )
  readonly cert?: string;

  @Pem('Private key, as PEM text or a secret reference. Required unless mode is passthrough.', {
    example: '{{secret:value:edge-key}}',
  })
  readonly key?: string;

  @ListOf(
    ListenerCertificate,
    'Further certificates, chosen by `serverNames`, then by the names in them: an exact name before a wildcard of one label, then the first.',
    { default: listenerDefaults.tls.certificates, lengthMax: certificatesMax },
  )
  readonly certificates?: readonly ListenerCertificate[];

  @OneOf(
    unknownServerNames,
    'For a server name that no certificate has: the `default` certificate, or `reject` by the alert unrecognized_name.',
    { default: listenerDefaults.tls.unknownServerName },
  )
  readonly unknownServerName?: (typeof unknownServerNames)[number];

  @Flag(
    'Answer 421 to a request whose authority the certificate of its connection does not cover, or whose host is of another section than the server name.',
    {
      default: listenerDefaults.tls.strictServerName,
    },
  )
  readonly strictServerName?: boolean;

  @OneOf(tlsVersions, 'Oldest TLS version to accept.', { default: listenerDefaults.tls.minVersion })
  readonly minVersion?: TlsVersion;

  @OneOf(tlsVersions, 'Newest TLS version to accept. Absent: the newest there is.')
  readonly maxVersion?: TlsVersion;

  @Nested(ListenerClientAuth, 'Client certificates.')
  readonly clientAuth?: ListenerClientAuth;
}
