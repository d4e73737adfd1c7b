// Words of a statement as the report shows them: passwords and keys are left out, for reports go to logs of builds.
import type { Statement } from './statement.ts';

/** Keys of YAML and JSON whose scalar is a secret. */
const secretKey = /^(?:[a-z_-]*(?:password|secret|token)|key|authorization)$/i;
/** Words of a directive before one that is a secret. */
const beforeSecret = /^(?:(?:insecure-)?password|authorization)$/i;

export function shownWords({ key, words }: Pick<Statement, 'key' | 'words'>): readonly string[] {
  const isStatsAuth = key === 'stats' && words[0] === 'auth';
  return words.map((word, place) => {
    const isSecret = secretKey.test(key) || (place === 1 && isStatsAuth) || beforeSecret.test(words[place - 1] ?? '');
    return isSecret ? '***' : word;
  });
}
