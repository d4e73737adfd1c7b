// Middleware type basicAuth: users and their passwords (contract.md §8.10).
import { basicAuthDefaults } from '../defaults.ts';
import { Flag, Htpasswd, Line, Token } from '../field.ts';

export class BasicAuthConfig {
  @Htpasswd(
    'Users as lines `name:hash` of htpasswd: bcrypt, argon2id and scrypt in PHC form, SHA-512-crypt. Best kept in a secret.',
    { required: true, example: '{{secret:value:users}}' },
  )
  readonly users!: string;

  @Line('Realm that browsers show.', { default: basicAuthDefaults.realm })
  readonly realm?: string;

  @Token('Request header that names the user. A value that the client sent is removed.', { example: 'x-user' })
  readonly userHeader?: string;

  @Flag('Leave the Authorization header in place for what follows.', {
    default: basicAuthDefaults.forwardAuthorization,
  })
  readonly forwardAuthorization?: boolean;
}
