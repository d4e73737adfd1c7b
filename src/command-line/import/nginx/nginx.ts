// Importer of nginx: servers, locations and upstreams of HTTP, with what they inherit.

import type { Ledger } from '../import-ledger.ts';
import type { Importer } from '../importer.ts';
import type { ImportedConfig, ImportedListener, ImportedRoute } from '../intermediate.ts';
import { allBelow, type Statement } from '../statement.ts';
import { nginxStatements } from './directive-parser.ts';
import { mapped, refused, withoutEffect } from './known-directives.ts';
import { Scope } from './scope.ts';
import { serverRoutes } from './server-routes.ts';
import { listenersOf, type NginxServer, serversOf } from './servers.ts';
import { upstreamsIn } from './upstream-blocks.ts';

export const nginx: Importer = { parse: nginxStatements, map: mappedConfig };

const differences = [
  'Upstreams get X-Forwarded-For, -Proto and -Host whether the file sets them or not, HTTP/1.1, and no Connection: close.',
  'Answers of the proxy itself have bodies of Sluice: errors in JSON, redirects none. A Location that names a path alone stays so.',
  'Fields Date and Server of upstreams are passed on; Location fields of upstreams are not rewritten (proxy_redirect default).',
  'What no location of a server takes is answered 404, where nginx looks for files (403, 404, 405).',
  'A failed connection is tried again only where proxy_next_upstream is given.',
];

function mappedConfig(roots: readonly Statement[], ledger: Ledger): ImportedConfig {
  for (const root of roots) for (const each of allBelow(root)) markKnown(each, ledger);
  const servers: NginxServer[] = [];
  const routes: ImportedRoute[] = [];
  for (const root of roots) {
    const top = new Scope(root, ledger);
    const blocks = top.own('http').map((each) => new Scope(each, ledger, top));
    for (const each of top.own('stream'))
      ledger.notTaken(each, 'connections are declared otherwise', 'a listener of protocol tcp, and streamRoutes');
    for (const each of top.own('location')) ledger.notTaken(each, 'stands in no server', 'the file that includes it');
    // A file of conf.d has servers without the block around them.
    const http = blocks.length > 0 ? blocks : [top];
    for (const scope of http) servers.push(...serversOf(scope, upstreamsIn(scope)));
  }
  const listeners: ImportedListener[] = listenersOf(servers, ledger);
  for (const server of servers) routes.push(...serverRoutes(server, servers, listeners.length > 1));
  return { listeners, routes, differences };
}

function markKnown(statement: Statement, ledger: Ledger): void {
  const { key, words } = statement;
  const [why, instead] = refused[key] ?? [];
  if (withoutEffect[key] !== undefined) ledger.approximated(statement, withoutEffect[key]);
  else if (why !== undefined) ledger.notTaken(statement, why, instead);
  else if (key === 'map') {
    if (words[1] === '$connection_upgrade') ledger.takenWhole(statement);
    else ledger.notTaken(statement, 'there are no variables', 'match.cel, match.headers');
  } else if (key === 'include' && (statement.lacksFiles || isEmptyFile(statement)))
    ledger.notTaken(statement, 'the file is not there or is empty', 'give it beside this one');
  else if (mapped.includes(key)) ledger.taken(statement);
}

/** A pattern may stand for no file, and types of media are not read. */
const isEmptyFile = ({ children, words: [name = ''] }: Statement): boolean =>
  children.length === 0 && !/(^|\/)mime\.types$/.test(name) && !/[*?[]/.test(name);
