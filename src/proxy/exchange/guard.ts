// What is made sure of before anything looks at a request, whatever version of HTTP brought it: nobody meets a forged
// client certificate, and a connection serves the hosts it was made for (contract.md §6.1, §7.1).
import { fieldId } from '../fields/field-name.ts';
import { type ProxyError, proxyError } from '../message/proxy-error.ts';
import type { ExchangeRequest } from '../message/request.ts';

/** Undefined: the request may go on. */
export function guard(request: ExchangeRequest): ProxyError | undefined {
  const { security, edits } = request;
  const uris = security?.client?.forwarded ?? '';
  if (uris !== '') edits.set('X-Forwarded-Client-Cert', uris);
  else if (claimsCertificate(request)) edits.remove('x-forwarded-client-cert');
  if (security === undefined || request.host === '' || security.covers(request.host)) return undefined;
  return proxyError('misdirected_request');
}

function claimsCertificate({ lines }: ExchangeRequest): boolean {
  for (let i = 0; i < lines.count; i++) if (lines.id(i) === fieldId.clientCertificate) return true;
  return false;
}
