// Conditions of `if` in nginx as matchers of a route.
import type { ImportedRoute, ModelFields } from '../intermediate.ts';
import { regexProblem } from '../shared/common.ts';

interface ConditionMatch {
  readonly match: ModelFields;
  readonly sample?: ImportedRoute['sample'];
}

/** Returns the match of `($variable operator value)`, or why there is none. */
export function conditionMatch(text: string): ConditionMatch | string {
  const [, variable = '', operator, value = ''] = /^\(\s*\$(\w+)\s*(?:(!?~\*?|!?=)\s*(.*?))?\s*\)$/.exec(text) ?? [];
  if (variable === '') return 'the condition is not of a variable';
  const bare = value.replace(/^["'](.*)["']$/, '$1');
  if (operator === undefined) return truthMatch(variable);
  const isRegex = operator.includes('~');
  const pattern = `${operator.endsWith('*') ? '(?i)' : ''}${bare}`;
  const problem = isRegex ? regexProblem(pattern) : undefined;
  if (problem !== undefined) return problem;
  const isNegated = operator.startsWith('!');
  if (variable === 'scheme' && operator === '=') return { match: { scheme: bare } };
  const field = fieldOf(variable);
  if (field === undefined) return `$${variable} has no counterpart`;
  const positive = isRegex
    ? `${textOf(field)}.matches(${JSON.stringify(pattern)})`
    : bare === ''
      ? `${textOf(field)} == ""`
      : guarded(field, `${field.cel} == ${JSON.stringify(bare)}`);
  const header = /^http_(\w+)$/.exec(variable)?.[1]?.replaceAll('_', '-');
  return {
    match: { cel: isNegated ? `!(${positive})` : positive },
    ...(variable === 'request_method' &&
      !isNegated && { sample: { method: isRegex ? (/[A-Z]+/.exec(bare)?.[0] ?? 'GET') : bare } }),
    ...(header !== undefined &&
      !isNegated &&
      header !== 'host' &&
      !/^\^?\$?$/.test(bare) && {
        sample: { headers: { [header]: isRegex ? (/[A-Za-z0-9-]+/.exec(bare)?.[0] ?? 'x') : bare } },
      }),
  };
}

/** A variable alone is true unless it is empty or `0`. */
function truthMatch(variable: string): ConditionMatch | string {
  const field = fieldOf(variable);
  if (field === undefined) return `$${variable} has no counterpart`;
  const { cel } = field;
  const header = /^http_(\w+)$/.exec(variable)?.[1]?.replaceAll('_', '-');
  const name = /^arg_(\w+)$/.exec(variable)?.[1];
  return {
    match: { cel: guarded(field, `${cel} != "" && ${cel} != "0"`) },
    ...(header !== undefined && { sample: { headers: { [header]: 'x' } } }),
    ...(name !== undefined && { sample: { query: `?${name}=x` } }),
  };
}

interface Field {
  readonly cel: string;
  /** True where the request has it. */
  readonly guard?: string;
}

const guarded = ({ guard }: Field, condition: string): string =>
  guard === undefined ? condition : `${guard} && ${condition}`;

/** A variable of a field that is not there is empty. */
const textOf = ({ cel, guard }: Field): string => (guard === undefined ? cel : `(${guard} ? ${cel} : "")`);

function fieldOf(variable: string): Field | undefined {
  const plain = {
    host: 'request.host',
    request_method: 'request.method',
    uri: 'request.path',
    scheme: 'request.scheme',
    remote_addr: 'request.clientIp',
    http_host: 'request.host',
  }[variable];
  if (plain !== undefined) return { cel: plain };
  const [, kind, name] = /^(http|arg)_(\w+)$/.exec(variable) ?? [];
  if (name === undefined) return undefined;
  const map = kind === 'http' ? 'request.headers' : 'request.queryParams';
  const key = JSON.stringify(kind === 'http' ? name.replaceAll('_', '-') : name);
  return { cel: `${map}[${key}]`, guard: `${key} in ${map}` };
}
