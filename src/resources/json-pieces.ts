// JSON of a large answer, in pieces: one for each element of its lists.

/** Levels of lists and objects that are taken apart: of an answer, of its members, and of lists within those. */
const levels = 3;

/** Texts that are the JSON of the value together. */
export function* jsonPieces(value: object, left = levels): Generator<string> {
  const isList = Array.isArray(value);
  const [open, close] = isList ? '[]' : '{}';
  let before = open;
  for (const [name, each] of Object.entries(value)) {
    if (each === undefined) continue;
    yield isList ? `${before}` : `${before}${JSON.stringify(name)}:`;
    before = ',';
    if (left > 1 && typeof each === 'object' && each !== null) yield* jsonPieces(each, left - 1);
    else yield JSON.stringify(each);
  }
  yield before === open ? `${open}${close}` : `${close}`;
}
