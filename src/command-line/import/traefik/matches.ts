// Matchers of Traefik as the match of a route.
import type { ModelFields, PathMatch } from '../intermediate.ts';
import { celText, clientIn, isCidr, regexProblem } from '../shared/common.ts';
import { fromBeginning } from '../shared/path-expressions.ts';
import type { Matcher } from './router-rule.ts';
import { withoutPlaceholders } from './version-2-rules.ts';

export interface RuleMatch {
  readonly hosts: readonly string[];
  readonly path?: PathMatch;
  readonly match: ModelFields;
}

/** Returns the match, or the problem of a matcher that has no counterpart. */
export function matchOf(matchers: readonly Matcher[]): RuleMatch | string {
  const hosts: string[][] = [];
  const paths: PathMatch[] = [];
  const methods: string[][] = [];
  const headers: ModelFields[] = [];
  const queryParams: ModelFields[] = [];
  const cels: string[] = [];
  for (const { name, values, isNegated } of matchers.map(withoutPlaceholders)) {
    const [first = '', second] = values;
    const condition = celOf(name, values);
    const problem = name.endsWith('Regexp') ? regexProblem(values.at(-1) ?? '') : undefined;
    if (problem !== undefined) return problem;
    if (isNegated) {
      if (condition === undefined) return `!${name} has no counterpart`;
      cels.push(`!(${condition})`);
    } else if (name === 'Host') hosts.push([...values]);
    else if (name === 'Path' && values.length === 1) paths.push({ is: 'exact', text: first });
    else if (name === 'PathPrefix' && values.length === 1) paths.push({ is: 'begins', text: first });
    else if (name === 'PathRegexp') paths.push({ is: 'regex', text: fromBeginning(first) });
    else if (name === 'Method') methods.push([...values]);
    else if ((name === 'Header' || name === 'Headers') && second !== undefined)
      headers.push({ name: first, value: second });
    else if (name === 'HeaderRegexp' || name === 'HeadersRegexp')
      headers.push({ name: first, value: second ?? '', regex: true });
    else if (name === 'Query') {
      const [key, value] = second === undefined ? first.split('=') : [first, second];
      queryParams.push({ name: key, ...(value !== undefined && { value }) });
    } else if (name === 'QueryRegexp') queryParams.push({ name: first, value: second ?? '', regex: true });
    else if (condition !== undefined) cels.push(condition);
    else return `${name} has no counterpart`;
  }
  if (hosts.length > 1 || paths.length > 1 || methods.length > 1) return 'one matcher stands twice in an alternative';
  return {
    hosts: hosts[0] ?? [],
    ...(paths[0] !== undefined && { path: paths[0] }),
    match: {
      ...(methods[0] !== undefined && { methods: methods[0] }),
      ...(headers.length > 0 && { headers }),
      ...(queryParams.length > 0 && { queryParams }),
      ...(cels.length > 0 && { cel: cels.join(' && ') }),
    },
  };
}

/** Condition of a matcher, for those without a field and for negations. */
function celOf(name: string, values: readonly string[]): string | undefined {
  const [first = '', second = ''] = values;
  const any = (conditions: readonly string[]) =>
    conditions.length === 1 ? conditions[0] : `(${conditions.join(' || ')})`;
  switch (name) {
    case 'Host':
      return any(values.map((each) => `request.host == ${celText(each)}`));
    case 'HostRegexp':
      return any(values.map((each) => `request.host.matches(${celText(each)})`));
    case 'Path':
      return any(values.map((each) => `request.path == ${celText(each)}`));
    case 'PathPrefix':
      return any(values.map((each) => `request.path.startsWith(${celText(each)})`));
    case 'PathRegexp':
      return `request.path.matches(${celText(first)})`;
    case 'Method':
      return any(values.map((each) => `request.method == ${celText(each)}`));
    case 'Header':
    case 'Headers':
      return `(${celText(first.toLowerCase())} in request.headers && request.headers[${celText(first.toLowerCase())}] == ${celText(second)})`;
    case 'ClientIP':
      return values.every(isCidr) ? `(${clientIn(values)})` : undefined;
    default:
      return undefined;
  }
}
