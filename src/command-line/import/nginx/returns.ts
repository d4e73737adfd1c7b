// `return` and redirecting `rewrite` of nginx as redirects and fixed answers.
import type { ImportedRoute, ModelFields, PathMatch } from '../intermediate.ts';
import type { Statement } from '../statement.ts';
import type { Scope } from './scope.ts';

type Answer = Pick<ImportedRoute, 'redirect' | 'directResponse'>;

const redirectCodes = [301, 302, 303, 307, 308];

export function answerOf(statement: Statement, scope: Scope, path: PathMatch | undefined): Answer {
  const [first = '', second] = statement.words;
  const isCode = /^\d{3}$/.test(first);
  const code = isCode ? Number(first) : 302;
  const target = isCode ? second : first;
  if (redirectCodes.includes(code)) {
    const redirect = redirectTo(target ?? '', code, path);
    if (redirect !== undefined) return { redirect };
    scope.ledger.notTaken(
      statement,
      'variables of the location have no counterpart; the route answers 503',
      'redirect of a route',
    );
    return { directResponse: { status: 503 } };
  }
  if (code === 444) scope.ledger.approximated(statement, 'the answer is 444, and the connection stays open');
  if (target?.includes('$')) {
    scope.ledger.notTaken(statement, 'variables in the body have no counterpart', 'bodyFrom, a service');
    return { directResponse: { status: code } };
  }
  const type = scope.word('default_type') ?? 'text/plain';
  return {
    directResponse: { status: Math.max(200, code), ...(target !== undefined && { body: target, contentType: type }) },
  };
}

/** Location as fields of a redirect; undefined where variables stand in another place than those known. */
function redirectTo(target: string, code: number, path: PathMatch | undefined): ModelFields | undefined {
  const [, scheme, host, port, rest] =
    /^(https?|\$scheme):\/\/(\$host|\$http_host|\$server_name|[A-Za-z0-9.-]+)(?::(\d+))?(.*)$/.exec(target) ?? [];
  if (!target.includes('$')) return target.startsWith('/') || scheme !== undefined ? { url: target, code } : undefined;
  if (scheme === undefined || host === undefined) {
    return target === '$request_uri' ? { code } : undefined;
  }
  const place: ModelFields = {
    ...(scheme !== '$scheme' && { scheme }),
    ...(!host.startsWith('$') && { host }),
    ...(port !== undefined && { port: Number(port) }),
    code,
  };
  if (host === '$server_name') return undefined;
  if (rest === '$request_uri' || rest === '$uri$is_args$args') return place;
  if (rest === '$uri') return { ...place, stripQuery: true };
  if (rest?.startsWith('/') && !rest.includes('$')) return { ...place, path: rest, pathMode: 'full', stripQuery: true };
  if (rest === '') return { ...place, path: '/', pathMode: 'full', stripQuery: true };
  const prefix = /^(\/[^$]*)\$request_uri$/.exec(rest ?? '')?.[1];
  return prefix !== undefined && path?.is === 'begins' && path.text === '/'
    ? { ...place, path: prefix, pathMode: 'prefix' }
    : undefined;
}

/** Redirect of `rewrite … permanent`: of a whole path, or with the rest behind a prefix. */
export function rewriteRedirect(statement: Statement): ModelFields | undefined {
  const [pattern = '', replacement = '', flag] = statement.words;
  const code = flag === 'permanent' ? 301 : 302;
  const whole = /^\^?\/?\(\.\*\)\$?$/.test(pattern) && /^(https?:\/\/[A-Za-z0-9.$-]+)\/?\$1$/.exec(replacement)?.[1];
  if (whole) return redirectTo(`${whole}$request_uri`, code, undefined);
  const [, scheme, host, port, path] = /^(https?):\/\/([A-Za-z0-9.-]+)(?::(\d+))?(\/[^$?]*)?$/.exec(replacement) ?? [];
  if (scheme === undefined) return undefined;
  // Unlike that of return, its location has the query of the request behind it.
  return { scheme, host, ...(port !== undefined && { port: Number(port) }), path: path ?? '/', pathMode: 'full', code };
}
