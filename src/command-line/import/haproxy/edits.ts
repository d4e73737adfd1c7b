// Changes that rules of HAProxy make to requests and responses, folded in their order into those of a route.

import type { Ledger } from '../import-ledger.ts';
import type { ModelFields } from '../intermediate.ts';
import { regexProblem } from '../shared/common.ts';
import type { Statement } from '../statement.ts';
import { type Condition, celOf } from './access-lists.ts';

interface FieldEdits {
  readonly add: readonly ModelFields[];
  readonly remove: readonly string[];
}

export interface Edits {
  readonly request: FieldEdits;
  readonly response: FieldEdits;
  readonly rewrite: ModelFields;
}

const nothing: FieldEdits = { add: [], remove: [] };

export const noEdits: Edits = { request: nothing, response: nothing, rewrite: {} };

const placeholders: readonly (readonly [RegExp, string])[] = [
  [/^%\[(?:req\.)?hdr\(host\)\]/, '${request.authority}'],
  [/^%\[(?:req\.)?f?hdr\(([A-Za-z0-9_-]+)\)\]/, '${request.header.$1}'],
  [/^%\[path\]/, '${request.path}'],
  [/^%\[src\]|^%ci/, '${request.clientIp}'],
  [/^%\[method\]|^%HM/, '${request.method}'],
  [/^%\[unique-id\]|^%ID/, '${request.id}'],
];

/** Value with placeholders; undefined where a sample has none. */
function fieldValue(text: string): { readonly value: string; readonly interpolate?: false } | undefined {
  if (!text.includes('%')) return { value: text, ...(text.includes('${') && { interpolate: false }) };
  let value = '';
  for (let rest = text; rest !== ''; ) {
    const found = placeholders.find(([expression]) => expression.test(rest));
    const [matched = ''] = found?.[0].exec(rest) ?? [];
    if (found !== undefined) value += matched.replace(found[0], found[1]);
    else if (rest.startsWith('%%')) value += '%';
    else if (rest.startsWith('%') || rest.startsWith('${')) return undefined;
    else value += rest[0] ?? '';
    rest = rest.slice(matched.length || (rest.startsWith('%%') ? 2 : 1));
  }
  return { value };
}

const byItself = /^x-forwarded-(for|proto|host|port)$/i;

/** Returns the edits with those of a rule, or why the rule is not taken. */
export function edited(
  edits: Edits,
  side: 'request' | 'response',
  action: string,
  words: readonly string[],
  condition: Condition,
  statement: Statement,
  ledger: Ledger,
): Edits | { readonly why: string; readonly instead: string } {
  const isAlways = condition.length === 1 && condition[0]?.length === 0;
  const [key = '', text = ''] = words;
  if (action === 'set-path' || action === 'replace-path')
    return rewritten(edits, action, words, isAlways, statement, ledger);
  const before = edits[side];
  const same = (name: unknown) => String(name).toLowerCase() === key.toLowerCase();
  if (action === 'del-header') {
    if (words.length > 1) return { why: 'fields are removed by their whole name', instead: 'requestHeadersToRemove' };
    if (!isAlways) return { why: 'fields are removed without a condition', instead: 'a route of its own' };
    const kept = {
      add: before.add.filter((each) => !same(each.key)),
      remove: [...before.remove.filter((each) => !same(each)), key],
    };
    return { ...edits, [side]: kept };
  }
  if (action !== 'set-header' && action !== 'add-header')
    return { why: `${action} has no counterpart`, instead: 'extProc' };
  if (side === 'request' && byItself.test(key) && !/-port$/i.test(key)) {
    ledger.approximated(statement, 'Sluice sets it; what clients send counts from trustedProxies alone');
    return edits;
  }
  const value = fieldValue(text);
  if (value === undefined) return { why: 'a sample of its value has no counterpart', instead: '${…} of header values' };
  if (side === 'request' && key.toLowerCase() === 'host') {
    if (!isAlways || value.value.includes('${')) return { why: 'only a fixed Host is taken', instead: 'rewrite.host' };
    return { ...edits, rewrite: { ...edits.rewrite, host: value.value } };
  }
  const isRemoved = before.remove.some(same);
  if (isRemoved && !isAlways)
    return { why: 'a field that is removed is set without a condition', instead: 'a route of its own' };
  const add = {
    key,
    ...value,
    append: action === 'add-header' && !isRemoved,
    ...(!isAlways && { when: celOf(condition) }),
  };
  return { ...edits, [side]: { add: [...before.add, add], remove: before.remove.filter((each) => !same(each)) } };
}

function rewritten(
  edits: Edits,
  action: string,
  [first = '', second = '']: readonly string[],
  isAlways: boolean,
  statement: Statement,
  ledger: Ledger,
): ReturnType<typeof edited> {
  const no = (why: string) => ({ why, instead: 'rewrite.pathRegex' });
  if (!isAlways) return no('paths are rewritten without a condition');
  if (edits.rewrite.pathRegex !== undefined) return no('one rewrite is taken');
  const [pattern, text] = action === 'set-path' ? setPath(first) : [wholeOf(first), second];
  if (pattern === undefined || text.includes('%')) return no('a sample of the path has no counterpart');
  const problem = regexProblem(pattern);
  if (problem !== undefined) return no(problem);
  ledger.taken(statement);
  const substitution = text.replaceAll('$', '$$$$').replace(/\\(\d)/g, '$${$1}');
  return { ...edits, rewrite: { ...edits.rewrite, pathRegex: { pattern, substitution } } };
}

/** Pattern and text of `set-path`: a fixed path, or one before or behind that of the request. */
function setPath(text: string): readonly [string | undefined, string] {
  const around = /^([^%]*)%\[path\]([^%]*)$/.exec(text);
  if (around !== null) return ['^(.*)$', `${around[1]}\\1${around[2]}`];
  const replaced = /^%\[path,regsub\(([^,()]+),([^,()]*)\)\]$/.exec(text);
  if (replaced !== null) return [replaced[1], replaced[2] ?? ''];
  return ['^.*$', text];
}

const wholeOf = (pattern: string): string =>
  `${pattern.startsWith('^') ? '' : '^.*?'}${pattern}${pattern.endsWith('$') ? '' : '.*$'}`;

/** Fields of a forward action. */
export function forwardFields({ request, response, rewrite }: Edits): ModelFields {
  const headers: ModelFields = {
    ...(request.add.length > 0 && { requestHeadersToAdd: request.add }),
    ...(request.remove.length > 0 && { requestHeadersToRemove: request.remove }),
    ...(response.add.length > 0 && { responseHeadersToAdd: response.add }),
    ...(response.remove.length > 0 && { responseHeadersToRemove: response.remove }),
  };
  return {
    ...(Object.keys(rewrite).length > 0 && { rewrite }),
    ...(Object.keys(headers).length > 0 && { headers }),
  };
}
