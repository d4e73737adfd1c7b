// Check of a 101's protocols (RFC 9110 §7.8): it names at least one, and only protocols that the request asked for
// (S02).
import { type FieldLines, listElements } from '../../fields/field-lines.ts';
import { fieldId } from '../../fields/field-name.ts';

/**
 * Returns the reason why a 101 with such fields does not answer a request with `Upgrade: asked`; empty when it does.
 */
export function notAsked(lines: FieldLines, asked: string): string {
  const offered = protocolsOf(asked);
  let named = false;
  for (let i = 0; i < lines.count; i++) {
    if (lines.id(i) !== fieldId.upgrade) continue;
    for (const protocol of protocolsOf(lines.value(i))) {
      if (!offered.includes(protocol)) return '101 to another protocol than was asked for';
      named = true;
    }
  }
  return named ? '' : '101 without the protocol it changes to';
}

/** Returns the protocols in lower case. */
const protocolsOf = (value: string): string[] => listElements(value.toLowerCase());
