// The check as Envoy asks it, `envoy.service.auth.v3.Authorization/Check` (architecture.md §6.29).

import { parametersOf } from '../../../expression/cel/value-view.ts';
import type { MiddlewareExchange } from '../../exchange/phase.ts';
import { targetOf } from '../../exchange/target-of.ts';
import { ExternalFailure } from '../../external/external-failure.ts';
import { changesOfOptions, replyFields } from '../../external/header-change.ts';
import type { ReportIgnored } from '../../external/ignored-fields.ts';
import { type Message, messageIn, messagesIn, numberIn, textIn, textsIn } from '../../external/message-reading.ts';
import { envoyCheckRequest, envoyCheckResponse } from '../../external/service-messages.ts';
import { separatorOf } from '../../fields/field-lines.ts';
import type { AskDecision, AuthzRequest, Decision } from './decision.ts';
import { call, pairsOf, statusOr403 } from './grpc-check.ts';

const checkPath = '/envoy.service.auth.v3.Authorization/Check';

export const askOverEnvoy: AskDecision = (question) =>
  call(question, checkPath, envoyCheckRequest.encode(attributesOf(question)), envoyCheckResponse).then((answer) =>
    decisionOf(answer, question),
  );

function decisionOf(answer: Message, { exchange, ignored }: AuthzRequest): Decision {
  reportMetadata(answer, ignored);
  if (messageIn(answer, 'error_response') !== undefined) throw new ExternalFailure('the service reports an error');
  const code = numberIn(messageIn(answer, 'status'), 'code');
  return code === 0 ? allowed(answer, exchange) : denied(messageIn(answer, 'denied_response'));
}

function allowed(answer: Message, { request, upstreamQuery }: MiddlewareExchange): Decision {
  const ok = messageIn(answer, 'ok_response');
  return {
    allowed: true,
    toUpstream: changesOfOptions(ok, 'headers'),
    removed: textsIn(ok, 'headers_to_remove'),
    toClient: changesOfOptions(ok, 'response_headers_to_add'),
    query: editedQuery(upstreamQuery ?? request.query, ok),
  };
}

function denied(response: Message | undefined): Decision {
  const fields = replyFields(changesOfOptions(response, 'headers'));
  const status = statusOr403(numberIn(messageIn(response, 'status'), 'code'));
  return { allowed: false, reply: { status, fields, body: textIn(response, 'body') } };
}

/** Reports metadata for later filters of Envoy; beside the answer, or within it as older services send it. */
function reportMetadata(answer: Message, ignored: ReportIgnored): void {
  for (const place of [answer, messageIn(answer, 'ok_response')]) {
    if (place?.dynamic_metadata !== undefined) ignored('dynamic_metadata');
  }
}

function editedQuery(query: string, ok: Message | undefined): string | undefined {
  const set = messagesIn(ok, 'query_parameters_to_set');
  const removed = textsIn(ok, 'query_parameters_to_remove');
  if (set.length + removed.length === 0) return undefined;
  const parameters = parametersOf(query);
  for (const each of set) parameters.set(textIn(each, 'key'), textIn(each, 'value'));
  for (const name of removed) parameters.delete(name);
  return parameters.toString();
}

function attributesOf({ check, exchange, body }: AuthzRequest): object {
  const { request } = exchange;
  const sender = request.sender();
  const headers = new Map([
    [':method', request.method],
    [':path', targetOf(exchange)],
    [':authority', request.authority],
    [':scheme', request.scheme],
  ]);
  for (const { key, value } of pairsOf(check.headers(exchange))) {
    const known = headers.get(key);
    headers.set(key, known === undefined ? value : `${known}${separatorOf(key)}${value}`);
  }
  const nowMs = exchange.clock.nowMs();
  const http = {
    id: crypto.randomUUID(),
    method: request.method,
    headers: Object.fromEntries(headers),
    path: targetOf(exchange),
    host: request.authority,
    scheme: request.scheme,
    size: request.bodyKind === 'stream' ? -1 : request.bodyKind === 'none' ? 0 : request.bodyLength,
    protocol: request.protocol === 'HTTP/2.0' ? 'HTTP/2' : request.protocol,
    ...(body === undefined ? {} : { body: body.toString('utf8') }),
  };
  const principal = request.tls?.peerCertificate.uris[0] ?? '';
  return {
    attributes: {
      source: { address: socketAddress(sender.clientIp, 0), principal },
      destination: { address: socketAddress(request.host, portOf(request.authority, request.scheme)) },
      request: { time: { seconds: Math.floor(nowMs / 1000), nanos: (nowMs % 1000) * 1_000_000 }, http },
    },
  };
}

const socketAddress = (address: string, port: number): object => ({ socket_address: { address, port_value: port } });

const portOf = (authority: string, scheme: string): number => {
  const port = /:([0-9]+)$/.exec(authority)?.[1];
  return port === undefined ? (scheme === 'https' ? 443 : 80) : Number(port);
};
