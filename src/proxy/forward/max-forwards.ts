// Max-Forwards of OPTIONS and TRACE: one less at each hop, and at 0 the request goes no further (RFC 9110 §7.6.2).
import type { ActionExchange } from '../exchange/entry.ts';
import { allowedMethods, proxyError } from '../message/proxy-error.ts';

const digits = /^\d{1,15}$/;

/** Returns whether the request has been answered in the place of an upstream; otherwise it has one hop less. */
export function endsHere(exchange: ActionExchange): boolean {
  const { request } = exchange;
  const { method } = request;
  if (method !== 'OPTIONS' && method !== 'TRACE') return false;
  const left = request.header('max-forwards') ?? '';
  if (!digits.test(left)) return false;
  if (Number(left) > 0) {
    request.edits.set('Max-Forwards', String(Number(left) - 1));
    return false;
  }
  if (method === 'TRACE') exchange.fail(proxyError('method_not_allowed'));
  else exchange.reply({ status: 204, fields: ['Allow', allowedMethods], body: '' });
  return true;
}
