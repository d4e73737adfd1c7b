// Matchers of Traefik 2, whose values have placeholders (`{id:[0-9]+}`), as those of Traefik 3.
import { quoteRegex } from '../../../expression/regex.ts';
import type { Matcher } from './router-rule.ts';

/** `{name}` or `{name:expression}`; quantifiers of expressions begin with a digit. */
const placeholder = /\{[A-Za-z_][\w-]*(?::((?:[^{}]|\{[0-9,]+\})*))?\}/g;

const kinds: Readonly<Record<string, { readonly name: string; readonly usual: string; readonly end: string }>> = {
  Path: { name: 'PathRegexp', usual: '[^/]+', end: '$' },
  PathPrefix: { name: 'PathRegexp', usual: '[^/]+', end: '' },
  Host: { name: 'HostRegexp', usual: '[^.]+', end: '$' },
  HostRegexp: { name: 'HostRegexp', usual: '[^.]+', end: '$' },
};

/** Returns the matcher by expressions where its values have placeholders. */
export function withoutPlaceholders(matcher: Matcher): Matcher {
  const kind = kinds[matcher.name];
  if (kind === undefined || !matcher.values.some((each) => each.search(placeholder) >= 0)) return matcher;
  const { name, usual, end } = kind;
  const alternatives = matcher.values.map((each) => expressionOf(each, usual)).join('|');
  return { ...matcher, name, values: [`^(?:${alternatives})${end}`] };
}

function expressionOf(text: string, usual: string): string {
  let expression = '';
  let at = 0;
  for (const { 0: whole, 1: own, index } of text.matchAll(placeholder)) {
    expression += `${quoteRegex(text.slice(at, index))}(?:${own ?? usual})`;
    at = index + whole.length;
  }
  return expression + quoteRegex(text.slice(at));
}
