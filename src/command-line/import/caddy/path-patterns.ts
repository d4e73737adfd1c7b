// Path patterns of Caddy as the path of a match: any text behind, before or around a text, else a glob of Go's path.Match.
import { quoteRegex } from '../../../expression/regex.ts';
import type { PathMatch } from '../intermediate.ts';

/** Returns the path that a pattern matches; undefined for a class of characters that does not end. */
export function pathOf(pattern: string): PathMatch | undefined {
  const stars = pattern.split('*').length - 1;
  const [isOpen, isEndless] = [pattern.startsWith('*'), pattern.endsWith('*')];
  if (pattern === '*') return { is: 'begins', text: '/' };
  if (stars === 2 && isOpen && isEndless) return { is: 'regex', text: `.*${quoteRegex(pattern.slice(1, -1))}` };
  if (stars === 1 && isOpen) return { is: 'regex', text: `.*${quoteRegex(pattern.slice(1))}$` };
  if (stars === 1 && isEndless) return { is: 'begins', text: pattern.slice(0, -1) };
  if (!/[*?[\\]/.test(pattern)) return { is: 'exact', text: pattern };
  const glob = globOf(pattern);
  return glob === undefined ? undefined : { is: 'regex', text: `${glob}$` };
}

/** Parts of a glob: a class of characters, an escaped character, or one character. */
const globParts = /\[(\^?)((?:\\.|[^\]\\])+)\]|\\(.)|([^[])/gsu;

function globOf(pattern: string): string | undefined {
  let text = '';
  let end = 0;
  for (const part of pattern.matchAll(globParts)) {
    if (part.index !== end) return undefined;
    end += part[0].length;
    const [, negation, members, escaped, single] = part;
    if (members !== undefined) text += `[${negation}${members.replace(/\\(.)|[[^&~]/gsu, memberOf)}]`;
    else if (single === '*') text += '[^/]*';
    else if (single === '?') text += '[^/]';
    else text += quoteRegex(escaped ?? single ?? '');
  }
  return end === pattern.length ? text : undefined;
}

/** Returns a member of a class as an expression has it: one that is escaped stands for itself, letters and digits too. */
const memberOf = (written: string, escaped = written): string =>
  /[!-/:-@[-`{-~]/.test(escaped) ? `\\${escaped}` : escaped;
