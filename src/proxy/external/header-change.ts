// Header changes that a service demands, in the terms of both protocols.
import { mayEdit } from '../fields/field-edits.ts';
import { fieldText, isFieldValue, trimmedValue } from '../fields/field-lines.ts';
import { bytesIn, type Message, messageIn, messagesIn, numberIn, textIn } from './message-reading.ts';

type ChangeKind = 'set' | 'append' | 'addIfAbsent' | 'setIfPresent';

export interface HeaderChange {
  readonly kind: ChangeKind;
  readonly name: string;
  /** A byte string. */
  readonly value: string;
}

/** Names and values in turn, as messages have them. */
export function headerPairs(headers: readonly string[]): { key: string; value: string }[] {
  const pairs: { key: string; value: string }[] = [];
  for (let i = 0; i + 1 < headers.length; i += 2) pairs.push({ key: headers[i] ?? '', value: headers[i + 1] ?? '' });
  return pairs;
}

/** `repeated HeaderPair`: each replaces. */
export const changesOfPairs = (pairs: readonly Message[]): HeaderChange[] =>
  pairs.map((pair) => ({ kind: 'set', name: textIn(pair, 'key'), value: fieldText(textIn(pair, 'value')) }));

/** `repeated HeaderValueOption`; an action that is not set overwrites (architecture.md §6.29). */
export const changesOfOptions = (of: Message | undefined, name: string): HeaderChange[] =>
  messagesIn(of, name).map((option) => {
    const header = messageIn(option, 'header');
    const raw = bytesIn(header, 'raw_value');
    const value = raw !== undefined && raw.length > 0 ? raw.toString('latin1') : fieldText(textIn(header, 'value'));
    return { kind: kindOf(option), name: textIn(header, 'key'), value };
  });

function kindOf(option: Message): ChangeKind {
  switch (numberIn(option, 'append_action')) {
    case 1:
      return 'addIfAbsent';
    case 2:
      return 'set';
    case 3:
      return 'setIfPresent';
    default:
      return messageIn(option, 'append')?.value === true ? 'append' : 'set';
  }
}

/** Fields, of a request or a response, to which a change is applied. */
export interface ChangeableFields {
  first(lowerName: string): string | undefined;
  set(name: string, value: string): void;
  append(name: string, value: string): void;
}

export function applyChange({ kind, name, value }: HeaderChange, fields: ChangeableFields): void {
  if (name === '') return;
  const present =
    kind === 'addIfAbsent' || kind === 'setIfPresent' ? fields.first(name.toLowerCase()) !== undefined : false;
  if (kind === 'append') fields.append(name, value);
  else if (kind === 'set' || present === (kind === 'setIfPresent')) fields.set(name, value);
}

/**
 * The fields of a reply that a service words, names and values in turn, without what it may not decide or what cannot
 * stand in a message: a line break within a value would begin a field, or a response, of its own.
 */
export const replyFields = (changes: readonly HeaderChange[]): string[] =>
  changes.flatMap(({ name, value }) =>
    mayEdit(name.toLowerCase()) && isFieldValue(value) ? [name, trimmedValue(value)] : [],
  );
