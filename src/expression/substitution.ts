// The right-hand side of a regex replacement, as contract.md §7.2 spells it: `\0`…`\9` and `\\`, and `$1`, `$name`,
// `${1}`, `${name}` and `$$`. A group that is unknown or took no part is empty; any other `\x` stays as it is.
import type { Regex } from './regex.ts';

export type Substitution = (groups: readonly (string | undefined)[]) => string;

const token = /\\([0-9\\])|\$(?:(\$)|([A-Za-z0-9_]+)|\{([A-Za-z0-9_]+)\})/g;

/** Compiles `text` for the groups of `regex`; hand the result to `regex.replaceAll`. */
export function compileSubstitution(text: string, regex: Regex): Substitution {
  const parts: (string | number)[] = [];
  let from = 0;
  for (const match of text.matchAll(token)) {
    parts.push(text.slice(from, match.index), meaning(match, regex));
    from = match.index + match[0].length;
  }
  parts.push(text.slice(from));
  return (groups) => parts.map((part) => (typeof part === 'number' ? (groups[part] ?? '') : part)).join('');
}

/** Literal text, or the number of a group. */
function meaning(match: RegExpExecArray, regex: Regex): string | number {
  const [, escaped, dollar, bare, braced] = match;
  if (escaped === '\\') return '\\';
  if (dollar) return '$';
  return groupNumber(escaped ?? bare ?? braced ?? '', regex);
}

function groupNumber(name: string, regex: Regex): string | number {
  const named = Object.hasOwn(regex.names, name) ? regex.names[name] : undefined;
  const number = /^[0-9]{1,4}$/.test(name) ? Number(name) : named;
  return number !== undefined && number <= regex.groups ? number : '';
}
