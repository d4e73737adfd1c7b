// Importer of HAProxy: frontends with their rules, backends with their servers, in mode http and tcp.

import type { Ledger } from '../import-ledger.ts';
import type { Importer } from '../importer.ts';
import type { ImportedConfig, ImportedListener, ImportedRoute } from '../intermediate.ts';
import { allBelow, type Statement } from '../statement.ts';
import { listenersOf } from './binds.ts';
import { mapped, refused, tables, withoutEffect } from './known-statements.ts';
import { Section } from './proxy-section.ts';
import { Rates } from './rates.ts';
import { FrontendWalk } from './rule-walk.ts';
import { haproxyStatements } from './section-parser.ts';
import { streamRoutesOf } from './streams.ts';

export const haproxy: Importer = { parse: haproxyStatements, map: mappedConfig };

const differences = [
  'Upstreams get X-Forwarded-For, -Proto and -Host whether the file sets them or not.',
  'Hosts are compared without port and in any case of letters; paths in their canonical form, those of the request as it came.',
  'Answers of the proxy itself have bodies of Sluice: errors in JSON, redirects none.',
  'Conditions are looked at for the whole route: header fields that a rule before has changed count as they came.',
];

type StreamRoutes = NonNullable<ImportedConfig['streamRoutes']>;

function mappedConfig(roots: readonly Statement[], ledger: Ledger): ImportedConfig {
  const statements = roots.flatMap(({ children }) => children);
  for (const each of statements) markKnown(each, ledger);
  const sections = sectionsOf(statements, ledger);
  const backends = new Map(
    sections.filter(({ statement: { key } }) => key === 'backend' || key === 'listen').map((each) => [each.name, each]),
  );
  const users = new Map(statements.filter(({ key }) => key === 'userlist').map((each) => [each.words[0] ?? '', each]));
  const rates = new Rates(sections);
  const listeners: ImportedListener[] = [];
  const routes: ImportedRoute[] = [];
  const streamRoutes: StreamRoutes[number][] = [];
  for (const section of sections.filter(({ statement: { key } }) => key === 'frontend' || key === 'listen')) {
    const sni = JSON.stringify(section.statement.children.map(({ words }) => words)).includes('ssl_sni');
    const own = listenersOf(section, sni);
    const names = own.map(({ name }) => name);
    if (own.length === 0) {
      ledger.notTaken(section.statement, 'it has no bind that is taken', 'a listener');
      continue;
    }
    listeners.push(...own);
    if (section.isTcp)
      streamRoutes.push(...streamRoutesOf(section, backends).map((each) => ({ ...each, listeners: names })));
    else routes.push(...routesOf(section, backends, users, rates, names));
  }
  const targets = new Set(
    sections
      .flatMap(({ statements: all }) => all.filter(({ key }) => /^(use|default)_backend$/.test(key)))
      .map(targetOf),
  );
  for (const { statement, name } of sections)
    if (statement.key === 'backend' && !targets.has(name) && !rates.used.has(statement))
      ledger.notTaken(statement, 'no rule leads to it', 'a destination');
  for (const each of statements) markUncounted(each, rates, ledger);
  return { listeners, routes, streamRoutes, differences };
}

/** Marks tables and counters that no limiter is made of. */
function markUncounted(section: Statement, { used }: Rates, ledger: Ledger): void {
  for (const statement of allBelow(section)) {
    if (used.has(statement)) continue;
    if (statement.key === 'stick-table') ledger.notTaken(statement, ...tables);
    else if (statement.words.some((word) => word.startsWith('track-sc')))
      ledger.notTaken(statement, 'counters are not kept', 'a middleware of type rateLimit');
  }
}

const targetOf = ({ words: [name = ''] }: Statement): string => name;

function routesOf(
  section: Section,
  backends: ReadonlyMap<string, Section>,
  users: ReadonlyMap<string, Statement>,
  rates: Rates,
  listeners: readonly string[],
): ImportedRoute[] {
  const walk = new FrontendWalk(section, backends, users, rates);
  walk.walk();
  return walk.routes.map((route, at) => ({ ...route, listeners, rank: [walk.routes.length - at] }));
}

/** Sections, each with the defaults that it names or that stand last before it. */
function sectionsOf(statements: readonly Statement[], ledger: Ledger): Section[] {
  let last: Statement | undefined;
  const named = new Map<string, Statement>();
  return statements.flatMap((statement): Section[] => {
    if (statement.key === 'defaults') {
      last = statement;
      if (statement.words[0] !== undefined) named.set(statement.words[0], statement);
      return [];
    }
    if (!/^(frontend|backend|listen)$/.test(statement.key)) return [];
    const at = statement.words.indexOf('from');
    return [new Section(statement, ledger, at < 0 ? last : named.get(statement.words[at + 1] ?? ''))];
  });
}

function markKnown(section: Statement, ledger: Ledger): void {
  if (section.key.startsWith('.'))
    ledger.notTaken(section, 'lines are read whether its condition holds or not', 'one file for each case');
  if (section.key === 'userlist') {
    ledger.takenWhole(section);
    for (const each of section.children)
      if (each.key !== 'user') ledger.notTaken(each, 'groups of users have no counterpart', 'basicAuth for each group');
      else ledger.approximated(each, 'passwords are not copied: put them into the file that the middleware names');
    return;
  }
  for (const statement of allBelow(section)) {
    const { key, words } = statement;
    const [why, instead] = refused[`${key} ${words[0]}`] ?? refused[key] ?? [];
    const effect = withoutEffect[`${key} ${words[0]}`] ?? withoutEffect[key];
    if (mapped.has(key) || mapped.has(`${key} ${words[0]}`)) ledger.taken(statement);
    else if (effect !== undefined) ledger.approximated(statement, effect);
    else if (why !== undefined && key !== 'http-check') ledger.notTaken(statement, why, instead);
  }
}
