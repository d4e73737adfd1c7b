// Header fields of nginx: those that upstreams get, and those that clients get.
import type { ImportedMiddleware, ModelFields } from '../intermediate.ts';
import { middleware } from '../shared/common.ts';
import type { Scope } from './scope.ts';
import { valueWithPlaceholders } from './variable-placeholders.ts';

/** Statuses to which add_header without `always` adds a field. */
const added = 'response.status in [200, 201, 204, 206, 301, 302, 303, 304, 307, 308]';

/** Fields for clients, of answers of the proxy itself, too. */
export function headersOf(scope: Scope, name: string): ImportedMiddleware[] {
  const statements = scope.all('add_header');
  const fields = statements.flatMap((statement): ModelFields[] => {
    const [key = '', text = '', always] = statement.words;
    const value = valueWithPlaceholders(text);
    if (value === undefined)
      scope.ledger.notTaken(statement, 'a variable of its value has no counterpart', '${…} of header values');
    if (value === undefined || value.value === '') return [];
    return [
      {
        key,
        value: value.value,
        append: true,
        ...(value.isLiteral && { interpolate: false }),
        ...(always !== 'always' && { when: added }),
      },
    ];
  });
  const [first] = statements;
  return first === undefined || fields.length === 0
    ? []
    : [middleware(first, `${name}-headers`, 'headers', { responseHeadersToAdd: fields })];
}

const byItself = /^(x-forwarded-(for|proto|host)|upgrade|connection)$/i;
const usualValues: Readonly<Record<string, RegExp>> = {
  'x-forwarded-for': /^\$(proxy_add_x_forwarded_for|remote_addr)$/,
  'x-forwarded-proto': /^\$(scheme|http_x_forwarded_proto)$/,
  'x-forwarded-host': /^\$(host|http_host)$/,
  upgrade: /^\$http_upgrade$/,
  connection: /^(|upgrade|keep-alive|close|\$connection_upgrade|\$http_connection)$/i,
};

/** Fields for upstreams. `host`: Host, unless the client's stays. */
export function proxyHeaders(
  scope: Scope,
  authority: string,
  isGrpc: boolean,
): { readonly headers: ModelFields; readonly host?: string } {
  const add: ModelFields[] = [];
  const remove: string[] = [];
  let host: string | undefined = authority;
  for (const statement of scope.all(isGrpc ? 'grpc_set_header' : 'proxy_set_header')) {
    const [key = '', text = ''] = statement.words;
    const lower = key.toLowerCase();
    if (byItself.test(key) && usualValues[lower]?.test(text)) {
      if (lower.startsWith('x-forwarded'))
        scope.ledger.approximated(statement, 'Sluice sets it; what clients send counts from trustedProxies alone');
      continue;
    }
    if (lower === 'host' && text === '$http_host') host = undefined;
    else if (lower === 'host' && text === '$proxy_host') host = authority;
    else if (lower === 'host' && text !== '$host' && !text.includes('$')) host = text;
    else if (text === '') remove.push(key);
    else {
      const value = valueWithPlaceholders(text);
      if (value === undefined)
        scope.ledger.notTaken(
          statement,
          'a variable of its value has no counterpart',
          lower === 'x-real-ip' ? 'X-Forwarded-For' : '${…} of header values',
        );
      else {
        if (lower === 'host') host = undefined;
        // A field whose value comes from an absent field is not sent.
        const copied = /^\$http_(\w+)$/.exec(text)?.[1]?.replaceAll('_', '-');
        const when = copied === undefined ? {} : { when: `${JSON.stringify(copied)} in request.headers` };
        add.push({ key, value: value.value, ...(value.isLiteral && { interpolate: false }), ...when });
      }
    }
  }
  const hidden = scope.all('proxy_hide_header').flatMap(({ words }) => words[0] ?? []);
  for (const statement of scope.all('proxy_redirect'))
    if (statement.words[0] !== 'off' && statement.words[0] !== 'default')
      scope.ledger.notTaken(
        statement,
        'Location fields of upstreams stay as they are',
        'responseHeadersToAdd with a condition',
      );
  return {
    headers: {
      ...(add.length > 0 && { requestHeadersToAdd: add }),
      ...(remove.length > 0 && { requestHeadersToRemove: remove }),
      ...(hidden.length > 0 && { responseHeadersToRemove: hidden }),
    },
    ...(host !== undefined && { host }),
  };
}
