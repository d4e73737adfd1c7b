// Action and middlewares of a location of nginx.
import type { ImportedRoute, ModelFields, PathMatch } from '../intermediate.ts';
import { bytesOf, regexProblem } from '../shared/common.ts';
import type { Statement } from '../statement.ts';
import { accessOf } from './access.ts';
import { headersOf, proxyHeaders } from './header-directives.ts';
import type { LocationContext } from './location-context.ts';
import { answerOf, rewriteRedirect } from './returns.ts';
import type { Scope } from './scope.ts';
import { destinationFor } from './upstream-blocks.ts';

type Part = Pick<ImportedRoute, 'middlewares' | 'forward' | 'redirect' | 'directResponse' | 'maxRequestBodyBytes'>;

export function locationAction(scope: Scope, path: PathMatch, context: LocationContext, name: string): Part {
  const { ledger } = scope;
  const [internal] = scope.own('internal');
  if (internal !== undefined) {
    ledger.approximated(internal, 'clients get 404; auth_request alone reaches it');
    return { middlewares: headersOf(scope, name), directResponse: { status: 404 } };
  }
  const middlewares = [...headersOf(scope, name), ...accessOf(scope, context, name)];
  const [answer] = scope.own('return');
  const rewrites = [...context.scope.own('rewrite'), ...scope.own('rewrite')];
  for (const each of rewrites)
    if (each.words[2] === 'permanent' || each.words[2] === 'redirect') {
      const redirect = scope.own('rewrite').includes(each) ? rewriteRedirect(each) : undefined;
      if (redirect === undefined)
        ledger.notTaken(each, 'a redirect by an expression has no counterpart', 'redirect of a route');
      else {
        ledger.taken(each);
        return { middlewares, redirect };
      }
    }
  if (answer !== undefined) return { middlewares, ...answerOf(answer, scope, path) };
  const isGrpc = scope.own('grpc_pass').length > 0;
  const [pass] = scope.own(isGrpc ? 'grpc_pass' : 'proxy_pass');
  const target = pass === undefined ? undefined : targetOf(pass.words[0] ?? '');
  if (pass === undefined || target === undefined) {
    if (pass !== undefined)
      ledger.notTaken(pass, 'its address has variables or is no URL; the route answers 503', 'a destination');
    else
      ledger.notTaken(
        scope.statement,
        'it is served from files or by another protocol; the route answers 503',
        'a web server as an upstream',
      );
    return { middlewares, directResponse: { status: 503 } };
  }
  const { headers, host } = proxyHeaders(scope, target.authority, isGrpc);
  const rewrite = { ...pathRewrite(rewrites, path, target.uri, scope), ...(host !== undefined && { host }) };
  const fields: ModelFields = {
    ...(Object.keys(rewrite).length > 0 && { rewrite }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...retryOf(scope),
  };
  return {
    middlewares,
    ...bodyLimitOf(scope),
    forward: { shares: [{ destination: destinationFor(scope, target, context.upstreams, isGrpc) }], fields },
  };
}

/** A limit that stands in the file; where none does, that of the listener counts. */
function bodyLimitOf(scope: Scope): Pick<Part, 'maxRequestBodyBytes'> {
  const given = scope.one('client_max_body_size');
  if (given === undefined) return {};
  const bytes = bytesOf(given.words[0]);
  if (bytes !== undefined) return { maxRequestBodyBytes: bytes };
  scope.ledger.notTaken(given, 'is no size; the limit is 1 MiB', 'maxRequestBodyBytes of the route');
  return {};
}

interface Target {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  readonly hasPort: boolean;
  /** As written, which is the Host of requests by itself. */
  readonly authority: string;
  readonly uri: string | undefined;
}

function targetOf(text: string): Target | undefined {
  const [, scheme, authority = '', uri] =
    /^(https?|grpcs?):\/\/([A-Za-z0-9._-]+(?::\d+)?|\[[0-9a-fA-F:.]+\](?::\d+)?)(\/[^$]*)?$/.exec(text) ?? [];
  if (scheme === undefined) return undefined;
  const [, host = '', port] = /^(.*?)(?::(\d+))?$/.exec(authority.replace(/^\[(.*)\]/, '[$1]')) ?? [];
  const isSecure = scheme === 'https' || scheme === 'grpcs';
  const bare = host.replace(/^\[|\]$/g, '');
  return {
    host: bare === 'localhost' ? '127.0.0.1' : bare,
    port: port === undefined ? (isSecure ? 443 : 80) : Number(port),
    isSecure,
    hasPort: port !== undefined,
    authority,
    uri,
  };
}

/** A URI in proxy_pass replaces what the location matched; a rewrite replaces the whole path. */
function pathRewrite(
  rewrites: readonly Statement[],
  path: PathMatch,
  uri: string | undefined,
  scope: Scope,
): ModelFields {
  const [first, ...others] = rewrites.filter(({ words }) => words[2] !== 'permanent' && words[2] !== 'redirect');
  for (const each of others)
    scope.ledger.notTaken(each, 'one rewrite is taken of a location', 'one rewrite of the route');
  if (first === undefined) return uri === undefined ? {} : { path: uri };
  const [pattern = '', replacement = ''] = first.words;
  const whole = `${pattern.startsWith('^') ? '' : '^.*?'}${pattern}${pattern.endsWith('$') ? '' : '.*$'}`;
  const problem = regexProblem(whole);
  if (problem !== undefined || /\$[a-z]/i.test(replacement) || /^(https?:|\$)/.test(replacement)) {
    scope.ledger.notTaken(first, problem ?? 'variables in the replacement have no counterpart', 'rewrite.pathRegex');
    return {};
  }
  const isOwn = scope.own('rewrite').includes(first);
  if (first.words[2] !== 'break')
    scope.ledger.approximated(
      first,
      isOwn
        ? 'the rewritten path goes upstream, and no other location is looked for'
        : 'it is done in each location, and none is looked for by the new path',
    );
  else scope.ledger.taken(first);
  if (uri !== undefined && path.is !== 'regex')
    scope.ledger.approximated(first, 'it takes the place of the path in proxy_pass');
  return { pathRegex: { pattern: whole, substitution: replacement.replace(/\$(\d)/g, '$${$1}') } };
}

function retryOf(scope: Scope): ModelFields {
  const given = scope.one('proxy_next_upstream');
  if (given === undefined || given.words.includes('off')) return {};
  const tries = Number(scope.word('proxy_next_upstream_tries') ?? 3) || 3;
  const on = [
    'connection-failure',
    ...(given.words.some((each) => /^http_50[234]$/.test(each)) ? ['gateway-error'] : []),
    ...(given.words.includes('http_500') ? ['server-error'] : []),
  ];
  scope.ledger.approximated(given, 'conditions are those of retry.on');
  return { retry: { attempts: Math.max(1, tries - 1), on } };
}
