// `envoy.service.ext_proc.v3.ExternalProcessor/Process`, as far as it has a meaning here (architecture.md §6.29): what is
// not listed is ignored.
import { ExternalFailure } from '../../external/external-failure.ts';
import { changesOfOptions, replyFields } from '../../external/header-change.ts';
import { bytesIn, type Message, messageIn, numberIn, textsIn } from '../../external/message-reading.ts';
import { envoyProcessingRequest, envoyProcessingResponse } from '../../external/service-messages.ts';
import { statusOr403 } from '../ext-authz/grpc-check.ts';
import { type Answer, type BodyMode, type PhaseModes, type PhaseName, phaseFields } from './answer.ts';
import type { ProcessorDialect } from './grpc-conversation.ts';

export const envoyDialect: ProcessorDialect = {
  path: '/envoy.service.ext_proc.v3.ExternalProcessor/Process',
  cleanEnd: 'goOn',
  encode({ phase, headers, body, endOfStream, observeOnly }) {
    const content =
      headers === undefined
        ? { body: body ?? Buffer.alloc(0), end_of_stream: endOfStream }
        : { headers: { headers: rawValues(headers) }, end_of_stream: endOfStream };
    return envoyProcessingRequest.encode({ [phaseFields.get(phase) ?? '']: content, observability_mode: observeOnly });
  },
  decode(bytes, ignored) {
    const answer = envoyProcessingResponse.decode(bytes);
    if (answer.dynamic_metadata !== undefined) ignored('dynamic_metadata');
    const immediate = messageIn(answer, 'immediate_response');
    if (immediate !== undefined) return rejected(immediate);
    for (const [phase, field] of phaseFields) {
      const action = messageIn(answer, field);
      if (action === undefined) continue;
      const common = messageIn(action, 'response');
      for (const name of passedOver) if (common?.[name] !== undefined) ignored(name);
      return acted(phase, common, messageIn(answer, 'mode_override'));
    }
    for (const name of trailerPhases) {
      if (answer[name] === undefined) continue;
      ignored(name);
      return acted(undefined, undefined, messageIn(answer, 'mode_override'));
    }
    const wanted = messageIn(answer, 'override_message_timeout');
    if (wanted !== undefined) return numberIn(wanted, 'seconds') * 1000 + numberIn(wanted, 'nanos') / 1_000_000;
    throw new ExternalFailure('no response');
  },
};

const passedOver = ['clear_route_cache', 'trailers'];
const trailerPhases = ['request_trailers', 'response_trailers'];

function rejected(immediate: Message): Answer {
  const mutation = messageIn(immediate, 'headers');
  const code = numberIn(messageIn(immediate, 'status'), 'code');
  const reply = {
    status: statusOr403(code === 0 ? 200 : code),
    fields: replyFields(changesOfOptions(mutation, 'set_headers')),
    body: bytesIn(immediate, 'body') ?? '',
  };
  return { kind: 'reject', reply };
}

function acted(phase: PhaseName | undefined, common: Message | undefined, override: Message | undefined): Answer {
  const mutation = messageIn(common, 'header_mutation');
  const bodyMutation = messageIn(common, 'body_mutation');
  // A field of the full-duplex modes means that the body is replaced: the original must not go on.
  if (bodyMutation?.streamed_response !== undefined) throw new ExternalFailure('a streamed response');
  return {
    kind: 'action',
    phase,
    removed: textsIn(mutation, 'remove_headers'),
    changes: changesOfOptions(mutation, 'set_headers'),
    body: bodyMutation?.clear_body === true ? Buffer.alloc(0) : bytesIn(bodyMutation, 'body'),
    last: numberIn(common, 'status') === 1,
    modes: override && modesOf(override),
  };
}

const headerModes: readonly ('send' | 'skip' | undefined)[] = [undefined, 'send', 'skip'];
/** The full-duplex modes are not spoken: an override that asks for one is not followed. */
const bodyModes: readonly (BodyMode | undefined)[] = ['none', 'streamed', 'buffered', 'bufferedPartial'];

function modesOf(override: Message): PhaseModes {
  const header = (name: string) => headerModes[numberIn(override, name)];
  const body = (name: string) => bodyModes[numberIn(override, name)];
  const modes = {
    responseHeaders: header('response_header_mode'),
    requestBody: body('request_body_mode'),
    responseBody: body('response_body_mode'),
  };
  return Object.fromEntries(Object.entries(modes).filter(([, mode]) => mode !== undefined));
}

const rawValues = (headers: readonly string[]): object[] => {
  const values: object[] = [];
  for (let i = 0; i + 1 < headers.length; i += 2) {
    values.push({ key: headers[i] ?? '', raw_value: Buffer.from(headers[i + 1] ?? '', 'utf8') });
  }
  return values;
};
