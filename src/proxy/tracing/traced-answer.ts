// Traced call to a service: its trace fields, and the record of its result.
import { isTimeout } from '../external/external-failure.ts';
import type { TracedCall } from './exchange-trace.ts';

/** The fields of a request, names in lower case and values in turn, with the trace's in place of any that is there. */
export function withTraceFields(headers: readonly string[], traced: TracedCall | undefined): readonly string[] {
  if (traced === undefined) return headers;
  const kept: string[] = [];
  for (let i = 0; i + 1 < headers.length; i += 2) {
    if (headers[i] !== 'traceparent') kept.push(headers[i] ?? '', headers[i + 1] ?? '');
  }
  return [...kept, 'traceparent', traced.traceparent];
}

/** The same promise; its end is that of the call. */
export async function tracedAnswer<Answer>(
  traced: TracedCall | undefined,
  answer: Promise<Answer>,
  statusOf: (answer: Answer) => number = () => 0,
): Promise<Answer> {
  if (traced === undefined) return answer;
  try {
    const given = await answer;
    traced.end(statusOf(given), '');
    return given;
  } catch (error) {
    traced.end(0, isTimeout(error) ? 'timeout' : 'unavailable');
    throw error;
  }
}
