// Consumers of Kong: credentials by kind.
import { randomBytes, scryptSync } from 'node:crypto';
import { labelsMax } from '../../../model/field.ts';
import { storedKey } from '../../../model/stored-api-key.ts';
import type { Fields } from '../fields.ts';
import type { ImportedConsumer } from '../intermediate.ts';
import { allBelow, type Statement } from '../statement.ts';
import { withoutEffect } from './kong-fields.ts';

export interface Consumer extends ImportedConsumer {
  /** True when it has credentials of type basic. */
  readonly isUser: boolean;
  /** Public keys by issuer. */
  readonly tokens: readonly { readonly issuer: string; readonly key: string }[];
}

/** Returns the groups that plugins of the type acl name, wherever they stand. */
export function groupsNamedIn(roots: readonly Statement[]): ReadonlySet<string> {
  const isAcl = ({ children }: Statement): boolean =>
    children.some(({ key, words: [word] }) => key === 'name' && word === 'acl');
  const plugins = roots.flatMap((root) => [...allBelow(root)]).filter(isAcl);
  return new Set(plugins.flatMap((plugin) => [...allBelow(plugin)]).flatMap(({ words }) => words));
}

/** @param named groups that plugins ask for: the labels of a consumer that is in very many */
export function consumerOf(fields: Fields, named: ReadonlySet<string>): Consumer {
  withoutEffect(fields);
  const name = fields.text('username') ?? fields.text('custom_id') ?? 'consumer';
  fields.text('custom_id');
  fields.notTaken('plugins', 'middlewares are not bound to consumers', 'skipWhen and onlyWhen of the middleware');
  fields.notTaken('groups', 'consumers have no groups', 'labels');
  for (const key of ['hmacauth_credentials', 'oauth2_credentials', 'mtls_auth_credentials'])
    fields.notTaken(key, 'is no kind of credential', 'jwt, extAuthz');
  const memberships = fields.list('acls');
  const groups = memberships.flatMap((each) => {
    withoutEffect(each);
    const group = each.value === undefined ? each.text('group') : each.value;
    if (group === undefined) return [];
    const isLabel = memberships.length <= labelsMax || named.has(group);
    each.approximated('group', isLabel ? 'it is a label of the consumer' : 'no plugin asks for it');
    return isLabel ? group : [];
  });
  if (/[^A-Za-z0-9._~:-]/.test(name))
    fields.approximated('username', 'a hyphen takes the place of what no name of a resource has');
  const keys = fields.list('keyauth_credentials').flatMap((each) => {
    withoutEffect(each);
    const key = each.text('key');
    // As the API stores it: files of resources hold no key.
    return key === undefined ? [] : storedKey(key);
  });
  const users = fields.list('basicauth_credentials').flatMap((each) => {
    withoutEffect(each);
    const [user, password] = [each.text('username'), each.text('password')];
    if (password !== undefined) each.approximated('password', 'its hash by scrypt is kept');
    return user === undefined || password === undefined ? [] : [{ user, hash: scryptOf(password) }];
  });
  const tokens = fields.list('jwt_secrets').flatMap((each) => {
    withoutEffect(each);
    const [issuer, algorithm, key] = [each.text('key'), each.text('algorithm') ?? 'HS256', each.text('rsa_public_key')];
    if (issuer !== undefined && key !== undefined && !algorithm.startsWith('HS')) return [{ issuer, key }];
    fields.ledger.notTaken(each.statement, 'only public keys verify tokens', 'a key pair of the issuer');
    return [];
  });
  const credentials = [
    ...keys.map((key) => ({ type: 'apiKey', key })),
    ...users.map(({ user, hash }) => ({ type: 'basic', username: user, passwordHash: hash })),
  ];
  return {
    from: fields.statement,
    name,
    fields: {
      ...(groups.length > 0 && { labels: Object.fromEntries(groups.map((group) => [aclLabel(group), 'true'])) }),
      ...(credentials.length > 0 && { credentials }),
    },
    isUser: users.length > 0,
    tokens,
  };
}

/** Label of the consumers of a group. */
export const aclLabel = (group: string): string => `acl.${group}`;

/** Hash in PHC form, with parameters that OWASP names. */
function scryptOf(password: string): string {
  const salt = randomBytes(16);
  const [logN, r, p] = [14, 8, 5];
  const hash = scryptSync(password, salt, 32, { N: 2 ** logN, r, p, maxmem: 64 * 1024 * 1024 });
  const bare = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
  return `$scrypt$ln=${logN},r=${r},p=${p}$${bare(salt)}$${bare(hash)}`;
}
