// A consumer: a client that requests are told apart by, whichever credential they bring (contract.md §2.13).
import { anyOf, has, noneOf, allOf as together } from './constraint.ts';
import { Entity } from './entity.ts';
import { ApiKey, ListOf, OneOf, PasswordHashText, Text, Username } from './field.ts';
import type { Problem } from './problem.ts';
import { Closed, Rules } from './rule.ts';

const fieldsOfType = {
  apiKey: ['key'],
  basic: ['username', 'passwordHash'],
  jwt: ['issuer', 'subject'],
} as const;

type CredentialType = keyof typeof fieldsOfType;

const credentialTypes = Object.keys(fieldsOfType) as readonly CredentialType[];

const credentialFields = Object.values(fieldsOfType).flat();

/** Other fields than those of the type. */
const foreignFields = (type: CredentialType): typeof credentialFields =>
  credentialFields.filter((field) => !fieldsOfType[type].some((own) => own === field));

@Rules<ConsumerCredential>(
  {
    hasFieldsOfItsType: (credential): readonly Problem[] => {
      const type = credentialTypes.find((each) => each === credential.type);
      if (type === undefined) return [];
      const lacks = fieldsOfType[type].filter((field) => credential[field] === undefined);
      const others = foreignFields(type).filter((field) => credential[field] !== undefined);
      return [
        ...lacks.map((field) => ({ pointer: `/${field}`, message: `is required when type is ${type}` })),
        ...others.map((field) => ({ pointer: `/${field}`, message: `must not stand beside type ${type}` })),
      ];
    },
  },
  anyOf(
    ...credentialTypes.map((type) =>
      together(
        has('type', type),
        ...fieldsOfType[type].map((field) => has(field)),
        noneOf(...foreignFields(type).map((field) => has(field))),
      ),
    ),
  ),
)
export class ConsumerCredential {
  @OneOf(credentialTypes, 'Kind of credential; the fields beside it are those of its kind.', {
    required: true,
    example: 'apiKey',
  })
  readonly type!: CredentialType;

  @ApiKey(
    'Type apiKey: the key, for middlewares of type apiKey. It is stored as its hash, `sha256:` and 64 hexadecimal digits, which answers show and which may be sent in its place.',
    { example: 'f4Zk3mT0y9vQ2sXhW7pLcB' },
  )
  readonly key?: string;

  @Username('Type basic: the name, for middlewares of type basicAuth.', { example: 'ann' })
  readonly username?: string;

  @PasswordHashText('Type basic: the hash of the password, as in a line of htpasswd.', {
    example: '$2y$10$be3HNIa1X6yfSHyD8WXsd.hGsAdslpabsyaEvtwZfvUQghcXq72kW',
  })
  readonly passwordHash?: string;

  @Text('Type jwt: the claim `iss` of tokens that a middleware of type jwt has verified.', {
    example: 'https://login.example.com',
  })
  readonly issuer?: string;

  @Text('Type jwt: their claim `sub`.', { example: 'ann' })
  readonly subject?: string;
}

@Closed()
export class Consumer extends Entity {
  static readonly summary = 'Clients by name, with their keys, passwords and tokens.';

  static readonly example = {
    id: 'shop-app',
    name: 'shop-app',
    credentials: [{ type: 'apiKey', key: 'f4Zk3mT0y9vQ2sXhW7pLcB' }],
  };

  @ListOf(ConsumerCredential, 'Credentials that name it. No credential is of two consumers.', {
    default: [],
    lengthMax: 100,
  })
  readonly credentials?: readonly ConsumerCredential[];
}
