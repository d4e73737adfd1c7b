// Statements of YAML and JSON: each scalar is one, with the place of its key, or of itself in a list.
import { type Alias, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseAllDocuments } from 'yaml';
import { failed } from '../exit.ts';
import { type Place, placeText } from '../input/fault.ts';
import type { InputFile } from '../input/input-files.ts';
import type { Statement } from './statement.ts';

const depthMax = 64;
const bytesMax = 4 * 1024 * 1024;
/** Statements of one file, those that aliases add included. */
const statementsMax = 200_000;

/** Returns the root of each document. Throws a failure that names the place of what is no YAML. */
export function yamlStatements({ name, text }: InputFile): Statement[] {
  if (text.length > bytesMax) throw failed(`${name} has more than ${bytesMax / 1024 / 1024} MiB`);
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, logLevel: 'silent' });
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { file: name, line, column: col };
  };
  let left = statementsMax;
  return (Array.isArray(documents) ? documents : []).flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw failed(`${placeText(placeAt(error.pos[0]))}  ${error.message.split('\n')[0]}`);
    const { contents } = document;
    if (contents === null || (isScalar(contents) && contents.value === null)) return [];

    const statementOf = (path: string, key: string, at: Node, given: unknown, depth: number): Statement => {
      const value = isAlias(given) ? (given as Alias).resolve(document) : given;
      const place = placeAt(at.range?.[0] ?? 0);
      left -= 1;
      if (left < 0) throw failed(`${placeText(place)}  the file has more than ${statementsMax} values`);
      if (depth > depthMax) throw failed(`${placeText(place)}  is nested deeper than ${depthMax} levels`);
      const children = isMap(value)
        ? value.items.map((pair) => {
            const own = isScalar(pair.key) ? String(pair.key.value) : String(pair.key);
            return statementOf(path === '' ? own : `${path}.${own}`, own, pair.key as Node, pair.value, depth + 1);
          })
        : isSeq(value)
          ? value.items.map((each, index) =>
              statementOf(`${path}[${index}]`, String(index), each as Node, each, depth + 1),
            )
          : [];
      const scalar = isScalar(value) && value.value !== null ? [String(value.value)] : [];
      return { name: path, key, words: scalar, children, place, isListed: children.length === 0 };
    };
    return [statementOf('', '', contents, contents, 0)];
  });
}
