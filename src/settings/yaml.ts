// Settings file as a map of keys. Variables are filled in before it is parsed, so a value that YAML cannot parse may
// be a secret: errors name the place, and never quote the text (contract.md §1.6).
import { type Alias, type Document, LineCounter, parseDocument, visit } from 'yaml';
import { isObject } from '../model/json-object.ts';

/** Error of an unusable file. One line; every wrong key with its path (contract.md §1.7). */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/** @throws {SettingsError} */
export function parseYaml(text: string): Readonly<Record<string, unknown>> {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false });
  const problem = (offset: number, what: string): SettingsError => {
    const { line, col } = lineCounter.linePos(offset);
    return new SettingsError(`YAML is invalid at line ${line}, column ${col}: ${what}`);
  };
  // What is a warning to the parser is a tag that it drops: part of a value.
  const [error] = [...document.errors, ...document.warnings];
  if (error) throw problem(error.pos[0], unquoted(error.message));
  const alias = danglingAlias(document);
  if (alias) throw problem(alias.range?.[0] ?? 0, 'an alias without its anchor; quote a value that begins with *');
  const value: unknown = document.toJS({ maxAliasCount: 100 }) ?? {};
  if (!isObject(value)) throw new SettingsError('the settings must be a map of keys');
  return value;
}

/** Removes the quotation that the parser puts at the end, behind a colon. */
const unquoted = (message: string): string => message.split(':', 1)[0] ?? '';

function danglingAlias(document: Document.Parsed): Alias | undefined {
  let found: Alias | undefined;
  visit(document, {
    Alias(_key, node) {
      if (node.resolve(document) !== undefined) return;
      found = node;
      return visit.BREAK;
    },
  });
  return found;
}
