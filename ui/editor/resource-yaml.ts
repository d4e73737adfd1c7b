// YAML of a resource. Loaded with the editor alone.
import { parseDocument, stringify as write } from 'yaml';
import type { Json, JsonObject } from '../lib/types.ts';

export function parse(text: string): Json {
  const document = parseDocument(text, { version: '1.2', merge: false });
  const [problem] = document.errors;
  if (problem !== undefined) throw new Error(problem.message);
  return document.toJS({ maxAliasCount: 100 }) as Json;
}

export const stringify = (value: JsonObject): string => write(value, { lineWidth: 0 });
