// The check over HTTP: the client's method on the service's path; 2xx allows (contract.md §8.5, HTTP check).
import { ExternalFailure } from '../../external/external-failure.ts';
import type { HeaderChange } from '../../external/header-change.ts';
import { tracedAnswer, withTraceFields } from '../../tracing/traced-answer.ts';
import type { NameTest } from '../name-pattern.ts';
import type { AskDecision } from './decision.ts';

export const askOverHttp: AskDecision = async ({ check, exchange, slot, body, services, call }) => {
  const service = services.http(check.destinationId);
  if (service === undefined) throw new ExternalFailure('destination missing');
  const { method } = exchange.request;
  const { path, destinationId } = check;
  const traced = exchange.trace?.ask(slot, { destinationId, operation: method, kind: 'http' });
  const headers = withTraceFields(check.headers(exchange), traced);
  const asked = service.ask({ method, path, headers, body, signal: call.signal });
  const answer = await tracedAnswer(traced, asked, ({ status }) => status);
  if (answer.status < 200 || answer.status > 299) {
    const fields = matching(answer.fields, check.deniedToClient);
    const lengthUnknown = method === 'HEAD';
    return { allowed: false, reply: { status: answer.status, fields, body: answer.body, lengthUnknown } };
  }
  return {
    allowed: true,
    toUpstream: changesOf(answer.fields, check.copyToUpstream),
    removed: [],
    toClient: changesOf(answer.fields, check.copyToClient),
    query: undefined,
  };
};

function matching(fields: readonly string[], test: NameTest): string[] {
  const kept: string[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const name = fields[i] ?? '';
    if (test(name.toLowerCase())) kept.push(name, fields[i + 1] ?? '');
  }
  return kept;
}

/** The first line of a name replaces what is there, later ones join it. */
function changesOf(fields: readonly string[], test: NameTest): HeaderChange[] {
  const seen = new Set<string>();
  const changes: HeaderChange[] = [];
  const kept = matching(fields, test);
  for (let i = 0; i < kept.length; i += 2) {
    const name = kept[i] ?? '';
    const lower = name.toLowerCase();
    const kind = seen.has(lower) || lower === 'set-cookie' ? 'append' : 'set';
    seen.add(lower);
    changes.push({ kind, name, value: kept[i + 1] ?? '' });
  }
  return changes;
}
