// Guard: checks of each request before any other stage sees it, in any version of HTTP: no forged client certificate
// passes, a connection serves only the hosts it was made for, and a listener with unique parameters refuses repeated
// ones (contract.md §6.1, §7.1, architecture.md §9).
import { parametersOf } from '../../expression/cel/value-view.ts';
import { fieldId } from '../fields/field-name.ts';
import { type ProxyError, proxyError } from '../message/proxy-error.ts';
import type { ExchangeRequest } from '../message/request.ts';
import type { ServedListener } from './exchange-context.ts';

/**
 * Returns the error; undefined when the request may go on. `sections`: where the section of the server name has to be that
 * of the host.
 */
export function guard(
  request: ExchangeRequest,
  uniqueParameters: boolean,
  sections: ServedListener | undefined,
): ProxyError | undefined {
  const { security, edits } = request;
  const uris = security?.client?.forwarded ?? '';
  if (uris !== '') edits.set('X-Forwarded-Client-Cert', uris);
  else if (claimsCertificate(request)) edits.remove('x-forwarded-client-cert');
  if (uniqueParameters && repeatsParameter(request.query)) return proxyError('duplicate_query_param');
  if (security === undefined || request.host === '') return undefined;
  const isMisdirected =
    !security.covers(request.host) || (sections && sections.sectionOf(security.serverName) !== request.section);
  return isMisdirected === true ? proxyError('misdirected_request') : undefined;
}

/** Compares decoded names, as expressions see them. */
function repeatsParameter(query: string): boolean {
  if (!query.includes('&')) return false;
  const names = new Set<string>();
  for (const [name] of parametersOf(query)) {
    if (names.has(name)) return true;
    names.add(name);
  }
  return false;
}

function claimsCertificate({ lines }: ExchangeRequest): boolean {
  for (let i = 0; i < lines.count; i++) if (lines.id(i) === fieldId.clientCertificate) return true;
  return false;
}
