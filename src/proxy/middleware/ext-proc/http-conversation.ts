// Processing over HTTP: one POST per message, JSON both ways (contract.md §8.6.1).
import { ExternalFailure, notAwaited, timedOut } from '../../external/external-failure.ts';
import { changesOfPairs, headerPairs, replyFields } from '../../external/header-change.ts';
import { messagesIn, numberIn, textIn, textsIn } from '../../external/message-reading.ts';
import { tracedAnswer, withTraceFields } from '../../tracing/traced-answer.ts';
import { statusOr403 } from '../ext-authz/grpc-check.ts';
import type { Answer, Conversation, PhaseMessage, PhaseName, ProcessorTools } from './answer.ts';
import { readJsonAnswer } from './json-answer.ts';

const phases: ReadonlySet<string> = new Set(['requestHeaders', 'requestBody', 'responseHeaders', 'responseBody']);

export function openHttp({ services, clock, destinationId, traced: begin }: ProcessorTools): Conversation {
  let under: AbortController | undefined;
  return {
    async ask(message, timeoutMs) {
      const service = services.http(destinationId);
      if (service === undefined) throw new ExternalFailure('destination missing');
      const abort = new AbortController();
      under = abort;
      const cancel = timeoutMs > 0 ? clock.after(timeoutMs, () => abort.abort(timedOut())) : () => {};
      try {
        const body = Buffer.from(JSON.stringify(documentOf(message)), 'utf8');
        const { signal } = abort;
        const traced = begin('POST', 'http');
        const headers = withTraceFields(['content-type', 'application/json'], traced);
        const asked = service.ask({ method: 'POST', path: '/', headers, body, signal });
        const answer = await tracedAnswer(traced, asked, ({ status }) => status);
        if (answer.status !== 200) throw new ExternalFailure(`answers ${answer.status}`);
        return answerOf(answer.body);
      } finally {
        cancel();
        under = undefined;
      }
    },
    end() {
      under?.abort(notAwaited());
    },
  };
}

function documentOf({ phase, headers = [], body, endOfStream, observeOnly }: PhaseMessage): object {
  const pairs = headerPairs(headers);
  return {
    phase,
    ...(pairs.length > 0 ? { headers: pairs } : {}),
    ...(body !== undefined && body.length > 0 ? { body: body.toString('base64') } : {}),
    endOfStream,
    ...(observeOnly ? { observeOnly } : {}),
  };
}

function answerOf(bytes: Buffer): Answer {
  const document = readJsonAnswer(bytes);
  const action = textIn(document, 'action');
  if (action === 'reject') {
    const fields = replyFields(changesOfPairs(messagesIn(document, 'rejectHeaders')));
    const status = statusOr403(numberIn(document, 'rejectStatus'));
    return { kind: 'reject', reply: { status, fields, body: decoded(textIn(document, 'rejectBody')) } };
  }
  if (!phases.has(action)) throw new ExternalFailure('an unknown action');
  const replaced = textIn(document, 'replaceBody');
  const body = document.clearBody === true ? Buffer.alloc(0) : replaced === '' ? undefined : decoded(replaced);
  return {
    kind: 'action',
    phase: action as PhaseName,
    removed: textsIn(document, 'removeHeaders'),
    changes: changesOfPairs(messagesIn(document, 'setHeaders')),
    body,
    last: textIn(document, 'status') === 'continueAndReplace',
    modes: undefined,
  };
}

const decoded = (text: string): Buffer => Buffer.from(text, 'base64');
