// Handlers of Caddy: changes of requests and responses in a chain, up to the handler that answers.
import type { Fields } from '../fields.ts';
import type { ImportedMiddleware, ImportedRoute, ModelFields } from '../intermediate.ts';
import { closed, lesserLimit, middleware } from '../shared/common.ts';
import { headerEdits } from './placeholders.ts';
import { reverseProxy } from './reverse-proxy.ts';

export interface Chain {
  readonly middlewares: readonly ImportedMiddleware[];
  readonly rewrite: ModelFields;
  readonly maxRequestBodyBytes?: number;
}

export const emptyChain: Chain = { middlewares: [], rewrite: {} };

type Answer = Pick<ImportedRoute, 'middlewares' | 'forward' | 'redirect' | 'directResponse' | 'maxRequestBodyBytes'>;

interface Handled {
  /** Chain behind the handlers, where none answers. */
  readonly next: Chain;
  readonly answers: readonly Answer[];
  readonly nested: readonly { readonly routes: readonly Fields[]; readonly chain: Chain }[];
}

export function handled(name: string, handlers: readonly Fields[], before: Chain): Handled {
  let chain = before;
  const nested: { routes: readonly Fields[]; chain: Chain }[] = [];
  for (const handler of handlers) {
    const kind = handler.text('handler') ?? '';
    const { ledger, statement: from } = handler;
    const add = (...more: readonly ImportedMiddleware[]) => {
      chain = { ...chain, middlewares: [...chain.middlewares, ...more] };
    };
    switch (kind) {
      case 'reverse_proxy': {
        const forward = reverseProxy(name, handler, chain.rewrite);
        const { middlewares, maxRequestBodyBytes } = chain;
        const answer: Answer =
          forward === undefined
            ? { middlewares, directResponse: { status: 503 } }
            : { middlewares, forward, ...(maxRequestBodyBytes !== undefined && { maxRequestBodyBytes }) };
        return { next: chain, answers: [answer], nested };
      }
      case 'static_response':
        return { next: chain, answers: [{ middlewares: chain.middlewares, ...staticResponse(handler) }], nested };
      case 'subroute':
        handler.notTaken('errors', 'no routes answer errors', 'errorPages of the route');
        nested.push({ routes: handler.list('routes'), chain });
        break;
      case 'headers': {
        const edits = headerEdits(handler);
        if (Object.keys(edits).length > 0) add(middleware(from, `${name}-headers`, 'headers', edits));
        break;
      }
      case 'rewrite':
        chain = { ...chain, rewrite: rewriteOf(handler, chain.rewrite) };
        break;
      case 'encode': {
        const algorithms = (handler.child('encodings')?.keys ?? []).filter((each) =>
          ['gzip', 'zstd', 'br'].includes(each),
        );
        const [least, prefer] = [handler.number('minimum_length') ?? 512, handler.texts('prefer')];
        for (const each of handler.child('encodings')?.statement.children ?? []) ledger.takenWhole(each);
        handler.approximated('match', 'types are those of the middleware');
        if (algorithms.length > 0)
          add(
            middleware(from, `${name}-encode`, 'compress', {
              algorithms: prefer.length > 0 ? prefer : algorithms,
              minBytes: least,
            }),
          );
        break;
      }
      case 'request_body': {
        const size = handler.number('max_size');
        for (const key of ['read_timeout', 'write_timeout'])
          handler.approximated(key, 'timeouts.clientRequest of the listener bounds the request');
        handler.notTaken('set', 'bodies are not changed', 'extProc');
        const maxRequestBodyBytes = lesserLimit(chain.maxRequestBodyBytes, size);
        if (maxRequestBodyBytes !== undefined) chain = { ...chain, maxRequestBodyBytes };
        break;
      }
      case 'authentication':
        add(passwords(name, handler));
        break;
      case 'vars':
      case 'tracing':
      case 'log_append':
        ledger.approximated(from, 'is for other handlers and logs');
        break;
      default: {
        ledger.notTaken(
          from,
          `the handler ${kind} has no counterpart; the route answers 503`,
          kind === 'file_server' ? 'a web server as an upstream' : 'extProc, errorPages',
        );
        return { next: chain, answers: [{ middlewares: chain.middlewares, directResponse: { status: 503 } }], nested };
      }
    }
  }
  return { next: nested.length > 0 ? before : chain, answers: [], nested };
}

function staticResponse(handler: Fields): Pick<ImportedRoute, 'redirect' | 'directResponse'> {
  const status = handler.number('status_code') ?? 200;
  const body = handler.text('body') ?? '';
  const fields = handler.child('headers');
  handler.approximated('close', 'connections stay open');
  if (handler.isTrue('abort'))
    handler.notTaken('abort', 'the answer is 403, and the connection stays open', 'inlineAuthz');
  const location = fields?.texts('Location')[0];
  if (location !== undefined && status >= 300 && status < 400) {
    const [, scheme, host, rest] =
      /^(https?):\/\/(\{http\.request\.host\}|[A-Za-z0-9.-]+)(\{http\.request\.uri\}|\/[^{}]*)?$/.exec(location) ?? [];
    const code = [301, 302, 303, 307, 308].includes(status) ? status : 302;
    if (!location.includes('{')) return { redirect: { url: location, code } };
    if (scheme !== undefined && host !== undefined)
      return {
        redirect: {
          scheme,
          ...(!host.startsWith('{') && { host }),
          ...(rest?.startsWith('/') && { path: rest, pathMode: 'full', stripQuery: true }),
          code,
        },
      };
    fields?.notTaken('Location', 'its placeholders have no counterpart; the route answers 503', 'redirect of a route');
    return { directResponse: { status: 503 } };
  }
  if (body.includes('{http.')) handler.notTaken('body', 'placeholders in bodies have no counterpart', 'bodyFrom');
  const headers = (fields?.keys ?? []).flatMap((key) => (fields?.texts(key) ?? []).map((value) => ({ key, value })));
  const type = headers.find(({ key }) => key.toLowerCase() === 'content-type')?.value;
  const others = headers.filter(({ key }) => key.toLowerCase() !== 'content-type');
  return {
    directResponse: {
      status: handler.isTrue('abort') ? 403 : Math.max(200, status),
      ...(body !== '' && { body }),
      ...(others.length > 0 && { headers: others }),
      ...(type !== undefined && { contentType: type }),
    },
  };
}

function rewriteOf(handler: Fields, before: ModelFields): ModelFields {
  const [prefix, uri, suffix] = [
    handler.text('strip_path_prefix'),
    handler.text('uri'),
    handler.text('strip_path_suffix'),
  ];
  const [first, ...others] = handler.list('path_regexp').map((each) => ({
    pattern: each.text('find') ?? '',
    substitution: (each.text('replace') ?? '').replaceAll('$', '$$'),
  }));
  for (const key of ['uri_substring', 'method', 'query'])
    handler.notTaken(key, 'has no counterpart', 'rewrite.pathRegex, extProc');
  const pattern = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const made = [
    ...(prefix !== undefined ? [{ pattern: `^${pattern(prefix)}`, substitution: '' }] : []),
    ...(suffix !== undefined ? [{ pattern: `${pattern(suffix)}$`, substitution: '' }] : []),
    ...(first !== undefined ? [first] : []),
    ...(uri !== undefined && !uri.includes('{')
      ? [{ pattern: '^.*$', substitution: uri.replaceAll('$', '$$$$') }]
      : []),
  ];
  const [, front] = /^(\/[^{}]*)\{http\.request\.uri\}$/.exec(uri ?? '') ?? [];
  if (front !== undefined) made.push({ pattern: '^', substitution: front });
  else if (uri?.includes('{')) handler.notTaken('uri', 'its placeholders have no counterpart', 'rewrite.pathRegex');
  if (made.length > 1 || others.length > 0 || (made.length > 0 && Object.keys(before).length > 0))
    handler.ledger.notTaken(
      handler.statement,
      'several changes of the path have no counterpart',
      'one rewrite of the route',
    );
  return made[0] === undefined ? before : { pathRegex: made[0] };
}

function passwords(name: string, handler: Fields): ImportedMiddleware {
  const basic = handler.child('providers')?.child('http_basic');
  const realm = basic?.text('realm');
  basic?.child('hash')?.text('algorithm');
  basic?.child('hash_cache');
  const users = (basic?.list('accounts') ?? []).flatMap((each) => {
    const [user, given] = [each.text('username'), each.text('password') ?? ''];
    each.text('salt');
    const hash = given.startsWith('$') ? given : Buffer.from(given, 'base64').toString('utf8');
    return user === undefined ? [] : [`${user}:${hash}`];
  });
  if (users.length === 0) {
    handler.ledger.notTaken(
      handler.statement,
      'only accounts of http_basic are known; the route is closed (403)',
      'extAuthz, jwt',
    );
    return closed(handler.statement, `${name}-closed`);
  }
  return middleware(handler.statement, `${name}-users`, 'basicAuth', {
    users: users.join('\n'),
    ...(realm !== undefined && { realm }),
    forwardAuthorization: true,
  });
}
