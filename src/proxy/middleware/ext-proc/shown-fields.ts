// The fields of a message as a processor sees them (contract.md §8.6): those it may see, in lower case, and then the
// pseudo-fields.

import type { MiddlewareExchange } from '../../exchange/phase.ts';
import { targetOf } from '../../exchange/target-of.ts';
import { editedLines } from '../../fields/field-edits.ts';
import { readableText } from '../../fields/field-lines.ts';

export function requestFields(exchange: MiddlewareExchange, maySee: (name: string) => boolean): string[] {
  const { request } = exchange;
  const fields: string[] = [];
  for (const [lower, , value] of editedLines(request.lines, request.edits)) {
    if (lower !== 'host' && maySee(lower)) fields.push(lower, readableText(value));
  }
  fields.push(':method', request.method, ':path', targetOf(exchange));
  fields.push(':authority', request.authority, ':scheme', request.scheme);
  return fields;
}

export function responseFields({ response }: MiddlewareExchange, maySee: (name: string) => boolean): string[] {
  const fields: string[] = [];
  for (const [lower, , value] of editedLines(response.lines, response.edits)) {
    if (maySee(lower)) fields.push(lower, readableText(value));
  }
  fields.push(':status', String(response.status));
  return fields;
}

/** No bytes follow the head. */
export const hasNoBody = ({
  bodyKind,
  bodyLength,
}: {
  readonly bodyKind: string;
  readonly bodyLength: number;
}): boolean => bodyKind === 'none' || (bodyKind === 'length' && bodyLength === 0);
