// Words of a statement as the report shows them: passwords and keys are left out, for reports go to logs of builds.
import type { Statement } from './statement.ts';

export const secretMark = '***';

/** Names of keys of YAML and JSON, and of header fields, with a secret. Annotations, which name Secrets, have a slash. */
const secretName =
  /^(?:key|users|authorization|[^/]*(?:password|secret|token|[-_.](?:authorization|api-?key|auth-?key)))$/i;
/** Words of a directive after which secrets stand: options, header fields, and samples and variables of header fields. */
const beforeSecret = /(?:^|[-_(])(?:password|authorization|key|secret|token)\)?$/i;
/** Header field and value in one word. */
const field = /^([\w-]*(?:authorization|[-_]key|secret|token)\s*:\s*).+/is;
const userInUrl = /(:\/\/[^\s/@:]*:)[^\s/@]+@/g;

export function shownWords({ name, key, words }: Pick<Statement, 'name' | 'key' | 'words'>): readonly string[] {
  if (isSecretKey(name, key)) return words.map(() => secretMark);
  const before = key === 'stats' && words[0] === 'auth' ? 0 : words.findIndex((word) => beforeSecret.test(word));
  return words.map((word, at) => (before >= 0 && at > before ? secretMark : withoutSecrets(word)));
}

/** The name of an element of a list is that of the list: `config.client_secret[0]`. */
function isSecretKey(name: string, key: string): boolean {
  const [, list] = /([^.[\]]+)(?:\[\d+\])+$/.exec(name) ?? [];
  return secretName.test(list ?? key);
}

const withoutSecrets = (word: string): string =>
  word.replace(field, `$1${secretMark}`).replace(userInUrl, `$1${secretMark}@`);
