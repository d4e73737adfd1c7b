// Routes of a server of nginx: conditions of the server, its locations in nginx's order, and an end for its hosts.
import type { ImportedRoute, PathMatch } from '../intermediate.ts';
import { hostRank, regexProblem } from '../shared/common.ts';
import { fromBeginning } from '../shared/path-expressions.ts';
import type { Statement } from '../statement.ts';
import { headersOf } from './header-directives.ts';
import { conditionMatch } from './if-conditions.ts';
import type { LocationContext } from './location-context.ts';
import { locationAction } from './locations.ts';
import { answerOf } from './returns.ts';
import { Scope } from './scope.ts';
import type { NginxServer } from './servers.ts';

/** Hosts of a part of the routes, with their rank among all servers. */
interface HostSet {
  readonly hosts: readonly string[];
  readonly cel?: string;
  readonly rank: readonly number[];
  readonly listeners: readonly string[];
}

export function serverRoutes(server: NginxServer, all: readonly NginxServer[], isBound: boolean): ImportedRoute[] {
  const own = server.listens.map(({ name }) => name);
  // The default server of a listener is the one that says so, or the first.
  const defaultOn = own.filter((name) => {
    const rivals = all.filter(({ listens }) => listens.some((each) => each.name === name));
    const said = rivals.find(({ listens }) => listens.some((each) => each.name === name && each.isDefault));
    return (said ?? rivals[0]) === server;
  });
  const label = server.names[0] ?? 'any';
  const parts = partsOf(server, label);
  return hostSets(server, own, defaultOn).flatMap(({ hosts, cel, rank, listeners }) =>
    parts.map((part): ImportedRoute => {
      const conditions = [cel, part.match?.cel as string | undefined].filter((each) => each !== undefined);
      const joined = conditions.length > 1 ? conditions.map((each) => `(${each})`).join(' && ') : conditions[0];
      return {
        ...part,
        ...(isBound && { listeners }),
        hosts,
        match: { ...part.match, ...(joined !== undefined && { cel: joined }) },
        rank: [...rank, ...part.rank],
      };
    }),
  );
}

/** nginx takes an exact name before a wildcard in front, that before one behind and expressions, and then the default server. */
function hostSets(
  { names, conditions }: NginxServer,
  listeners: readonly string[],
  defaultOn: readonly string[],
): HostSet[] {
  const exact = names.filter((name) => !name.startsWith('*.'));
  const suffixes = names.filter((name) => name.startsWith('*.'));
  return [
    ...(exact.length > 0 ? [{ hosts: exact, rank: [3, 0], listeners }] : []),
    ...suffixes.map((name) => ({ hosts: [name], rank: [2, hostRank(name)[1]], listeners })),
    ...conditions.map((cel) => ({ hosts: [], cel, rank: [1, 0], listeners })),
    ...(defaultOn.length > 0 ? [{ hosts: [], rank: [0, 0], listeners: defaultOn }] : []),
  ];
}

type Part = Omit<ImportedRoute, 'hosts' | 'listeners'>;

function partsOf(server: NginxServer, label: string): Part[] {
  const { scope, upstreams } = server;
  const locations = locationsIn(scope);
  const context: LocationContext = { upstreams, scope, locations: locations.map(({ statement }) => statement) };
  const early = earlyParts(scope, label);
  const [whole] = scope.own('return');
  if (whole !== undefined) {
    for (const { statement } of locations)
      scope.ledger.notTaken(statement, 'the return of the server answers before it');
    return [
      ...early,
      {
        name: label,
        from: whole,
        rank: [9, 0, 0],
        middlewares: headersOf(scope, label),
        ...answerOf(whole, scope, undefined),
      },
    ];
  }
  const parts = locations.flatMap(({ statement, path, rank }): Part[] => {
    if (path === undefined) return [];
    const inner = new Scope(statement, scope.ledger, scope);
    const name = `${label}${path.text === '/' ? '' : path.text}`;
    const base = { name, from: statement, path };
    return [
      ...earlyParts(inner, name).map((part) => ({ ...part, path, rank: [...rank, part.rank[2] ?? 0] })),
      { ...base, rank: [...rank, 0], ...locationAction(inner, path, context, name) },
    ];
  });
  const hasRoot = locations.some(({ path }) => path?.text === '/' && path.is === 'begins');
  const end: Part = {
    name: `${label}-otherwise`,
    from: scope.statement,
    rank: [0, 0, 0],
    middlewares: headersOf(scope, label),
    directResponse: { status: 404 },
  };
  return [...early, ...parts, ...(hasRoot ? [] : [end])];
}

/** Conditions with a return, which answer before all else of their block. */
function earlyParts(scope: Scope, label: string): Part[] {
  return scope.own('if').flatMap((statement, at): Part[] => {
    const match = conditionMatch(statement.words.join(' '));
    const inner = new Scope(statement, scope.ledger, scope);
    const answer = inner.statements.at(-1);
    const hasOthers = inner.statements.slice(0, -1).some(({ key }) => key !== 'add_header');
    if (typeof match === 'string' || answer?.key !== 'return' || hasOthers) {
      const why =
        typeof match === 'string' ? match : 'only a return, and add_header before it, are taken of a condition';
      const refuses = inner.own('return').some(({ words: [code] }) => Number(code) >= 400);
      scope.ledger.notTaken(statement, refuses ? `${why}; its routes are closed (403)` : why, 'a route with match.cel');
      if (!refuses) return [];
      const name = `${label}-closed-${at + 1}`;
      const directResponse = { status: 403 };
      return [{ name, from: statement, rank: [10, 0, 1000 - at], middlewares: [], directResponse }];
    }
    return [
      {
        name: `${label}-if-${at + 1}`,
        from: statement,
        rank: [10, 0, 1000 - at],
        middlewares: headersOf(inner, `${label}-if-${at + 1}`),
        ...match,
        ...answerOf(answer, inner, undefined),
      },
    ];
  });
}

interface Location {
  readonly statement: Statement;
  readonly path?: PathMatch;
  readonly rank: readonly number[];
}

/** Exact ones, then prefixes with ^~, then expressions in their order, then prefixes; longer before shorter. */
function locationsIn(scope: Scope): Location[] {
  const statements = scope.own('location');
  const stops = statements.filter(({ words }) => words[0] === '^~').map(({ words }) => words[1] ?? '');
  const hasRegex = statements.some(({ words }) => words[0] === '~' || words[0] === '~*');
  return statements.flatMap((statement, at): Location[] => {
    for (const inner of statement.children)
      if (inner.key === 'location')
        scope.ledger.notTaken(inner, 'locations within locations are not taken', 'a location beside it');
    const [first = '', second = ''] = statement.words;
    if (first.startsWith('@')) return [];
    if (first === '=') return [{ statement, path: { is: 'exact', text: second }, rank: [4, 0] }];
    if (first === '~' || first === '~*') {
      const body = `${first === '~*' ? '(?i)' : ''}${fromBeginning(second)}`;
      const text = body.replace(/\(\?<([A-Za-z0-9_]+)>/g, '(?P<$1>');
      const problem = regexProblem(text);
      if (problem === undefined) return [{ statement, path: { is: 'regex', text }, rank: [2, 10_000 - at] }];
      scope.ledger.notTaken(statement, problem, 'a location without it');
      return [];
    }
    const text = first === '^~' ? second : first;
    const isInside = first !== '^~' && stops.some((stop) => text.startsWith(stop) && text !== stop);
    if (isInside && hasRegex)
      scope.ledger.approximated(statement, 'it wins over expressions, as the shorter prefix with ^~ does');
    return [{ statement, path: { is: 'begins', text }, rank: [first === '^~' || isInside ? 3 : 1, text.length] }];
  });
}
