// Objects of kind Secret without their values. They are not read, and the report lists what is not.
import { secretMark } from '../shown-words.ts';
import type { Statement } from '../statement.ts';

/** Returns the statement with the values of each Secret in it masked; those of a List are in it. */
export function withoutSecrets(statement: Statement): Statement {
  const { children } = statement;
  const isSecret = children.some(({ key, words }) => key === 'kind' && words[0] === 'Secret');
  return { ...statement, children: children.map(isSecret ? partOfSecret : withoutSecrets) };
}

/** Names stay. Annotations may hold the whole object, as it was applied last. */
function partOfSecret(part: Statement): Statement {
  if (part.key === 'kind' || part.key === 'apiVersion') return part;
  if (part.key !== 'metadata') return masked(part);
  return { ...part, children: part.children.map((each) => (each.key === 'annotations' ? masked(each) : each)) };
}

const masked = (statement: Statement): Statement => ({
  ...statement,
  words: statement.words.map(() => secretMark),
  children: statement.children.map(masked),
});
