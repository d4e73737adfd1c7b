// Middleware type basicAuth: users and their passwords (contract.md §8.10).
import { anyOf, has, isTrue } from '../constraint.ts';
import { basicAuthDefaults } from '../defaults.ts';
import { Flag, Htpasswd, Line, Token } from '../field.ts';
import { problemIf, Rules } from '../rule.ts';

@Rules<BasicAuthConfig>(
  {
    hasUsers: ({ users, consumers }) =>
      problemIf(users === undefined && consumers !== true, '/users', 'is required unless consumers is true'),
  },
  anyOf(has('users'), isTrue('consumers')),
)
export class BasicAuthConfig {
  @Htpasswd(
    'Users as lines `name:hash` of htpasswd: bcrypt, argon2id and scrypt in PHC form, SHA-512-crypt. Best kept in a secret. Required unless consumers is true.',
    { example: '{{secret:value:users}}' },
  )
  readonly users?: string;

  @Flag('Let consumers in too, by their credentials of type basic. A name in users is that user alone.', {
    default: basicAuthDefaults.consumers,
  })
  readonly consumers?: boolean;

  @Line('Realm that browsers show.', { default: basicAuthDefaults.realm })
  readonly realm?: string;

  @Token('Request header that names the user. A value that the client sent is removed.', { example: 'x-user' })
  readonly userHeader?: string;

  @Flag('Leave the Authorization header in place for what follows.', {
    default: basicAuthDefaults.forwardAuthorization,
  })
  readonly forwardAuthorization?: boolean;
}
