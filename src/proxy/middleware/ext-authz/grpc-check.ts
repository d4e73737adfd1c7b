// The check by `extauthz.v1.Authorizer/Check` (contract.md §8.5, gRPC check).
import { ExternalFailure } from '../../external/external-failure.ts';
import { changesOfPairs, replyFields } from '../../external/header-change.ts';
import { bytesIn, type Message, messagesIn, numberIn } from '../../external/message-reading.ts';
import { checkRequest, checkResponse, type MessageType } from '../../external/service-messages.ts';
import { readableText } from '../../fields/field-lines.ts';
import { tracedAnswer } from '../../tracing/traced-answer.ts';
import type { AskDecision, AuthzRequest, Decision } from './decision.ts';

const checkPath = '/extauthz.v1.Authorizer/Check';

export const askOverGrpc: AskDecision = (question) => {
  const { check, exchange, body } = question;
  const { method, target } = exchange.request;
  const headers = pairsOf(check.headers(exchange));
  const asked = { method, path: target, headers, ...(body === undefined ? {} : { body }) };
  return call(question, checkPath, checkRequest.encode(asked), checkResponse).then(decisionOf);
};

function decisionOf(answer: Message): Decision {
  const changes = changesOfPairs(messagesIn(answer, 'headers'));
  if (answer.allowed === true) {
    return { allowed: true, toUpstream: changes, removed: [], toClient: [], query: undefined };
  }
  const status = statusOr403(numberIn(answer, 'denied_status'));
  return {
    allowed: false,
    reply: { status, fields: replyFields(changes), body: bytesIn(answer, 'denied_body') ?? '' },
  };
}

/** One unary call; what is no such message is a failure like any other. */
export function call(
  { check, exchange, slot, services, call, timeoutMs }: AuthzRequest,
  path: string,
  message: Uint8Array,
  answers: MessageType,
): Promise<Message> {
  const { destinationId } = check;
  const channel = services.grpc(destinationId);
  if (channel === undefined) return Promise.reject(new ExternalFailure('destination missing'));
  const traced = exchange.trace?.ask(slot, { destinationId, operation: path.slice(1), kind: 'grpc' });
  const asked = channel.unary(path, message, call, { timeoutMs, traceparent: traced?.traceparent });
  const answer = traced === undefined ? asked : tracedAnswer(traced, asked);
  return answer.then((bytes) => {
    try {
      return answers.decode(bytes);
    } catch {
      throw new ExternalFailure('the answer cannot be read');
    }
  });
}

export function pairsOf(headers: readonly string[]): { key: string; value: string }[] {
  const pairs: { key: string; value: string }[] = [];
  for (let i = 0; i + 1 < headers.length; i += 2) {
    pairs.push({ key: readableText(headers[i] ?? ''), value: readableText(headers[i + 1] ?? '') });
  }
  return pairs;
}

/** Returns the status, or 403 for 0, which means none was given, and for any that is no status of a final response. */
export const statusOr403 = (status: number): number => (status >= 200 && status <= 599 ? status : 403);
