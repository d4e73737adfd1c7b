// `extproc.v1.Processor/Process` (contract.md §8.6.2).
import { ExternalFailure } from '../../external/external-failure.ts';
import { changesOfPairs, headerPairs, replyFields } from '../../external/header-change.ts';
import { bytesIn, messageIn, messagesIn, numberIn, textsIn } from '../../external/message-reading.ts';
import { processingRequest, processingResponse } from '../../external/service-messages.ts';
import { statusOr403 } from '../ext-authz/grpc-check.ts';
import { phaseFields } from './answer.ts';
import type { ProcessorDialect } from './grpc-conversation.ts';

export const sluiceDialect: ProcessorDialect = {
  path: '/extproc.v1.Processor/Process',
  cleanEnd: 'askAgain',
  encode({ phase, headers, body, endOfStream, observeOnly }) {
    const content =
      headers === undefined
        ? { body: body ?? Buffer.alloc(0), end_of_stream: endOfStream }
        : { headers: headerPairs(headers), end_of_stream: endOfStream };
    return processingRequest.encode({ [phaseFields.get(phase) ?? '']: content, observe_only: observeOnly });
  },
  decode(bytes) {
    const answer = processingResponse.decode(bytes);
    const reject = messageIn(answer, 'reject');
    if (reject !== undefined) {
      const reply = {
        status: statusOr403(numberIn(reject, 'status')),
        fields: replyFields(changesOfPairs(messagesIn(reject, 'headers'))),
        body: bytesIn(reject, 'body') ?? '',
      };
      return { kind: 'reject', reply };
    }
    for (const [phase, field] of phaseFields) {
      const action = messageIn(answer, field);
      if (action === undefined) continue;
      const replaced = bytesIn(action, 'replace_body');
      const isHeaders = phase === 'requestHeaders' || phase === 'responseHeaders';
      // Absent and empty are the same for a header phase: only a body action can tell them apart.
      const given = isHeaders && replaced?.length === 0 ? undefined : replaced;
      return {
        kind: 'action',
        phase,
        removed: textsIn(action, 'remove_headers'),
        changes: changesOfPairs(messagesIn(action, 'set_headers')),
        body: action.clear_body === true ? Buffer.alloc(0) : given,
        last: numberIn(action, 'status') === 1,
        modes: undefined,
      };
    }
    throw new ExternalFailure('no action');
  },
};
