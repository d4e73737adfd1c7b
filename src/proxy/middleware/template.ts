// Texts with placeholders, `${request.host}` and the like (contract.md §8.0, §8.7): taken apart once when the table is
// compiled, filled in per exchange in a single pass, so that what a client sent is never read as a placeholder.

/** The value of one placeholder. */
export type Variable<Input> = (input: Input) => string;

export interface Template<Input> {
  /** Set when nothing is to be filled in. */
  readonly constant: string | undefined;
  fill(input: Input): string;
}

/**
 * `variable` gives the reader of a placeholder by what stands between the braces; one that it does not know stays in
 * the text as it is. `literal` is applied once to each piece between placeholders.
 */
export function compileTemplate<Input>(
  text: string,
  variable: (name: string) => Variable<Input> | undefined,
  literal: (text: string) => string = (same) => same,
): Template<Input> {
  return templateOf(piecesOf(text, variable).map((piece) => (typeof piece === 'string' ? literal(piece) : piece)));
}

/** Splits `text` into literal pieces and readers, in order; none for an empty one. */
export function piecesOf<Reader>(text: string, variable: (name: string) => Reader | undefined): (string | Reader)[] {
  const pieces: (string | Reader)[] = [];
  let plain = '';
  let at = 0;
  for (const found of text.matchAll(placeholder)) {
    const reader = variable(found[1] ?? '');
    if (reader === undefined) continue;
    plain += text.slice(at, found.index);
    if (plain !== '') pieces.push(plain);
    plain = '';
    pieces.push(reader);
    at = found.index + found[0].length;
  }
  plain += text.slice(at);
  if (plain !== '') pieces.push(plain);
  return pieces;
}

/** Field names may hold a dollar sign, but no brace. */
const placeholder = /\$\{([^{}]*)\}/g;

function templateOf<Input>(pieces: readonly (string | Variable<Input>)[]): Template<Input> {
  const [first = '', ...others] = pieces;
  if (others.length > 0) return { constant: undefined, fill: (input) => joined(pieces, input) };
  if (typeof first === 'string') return { constant: first, fill: () => first };
  return { constant: undefined, fill: first };
}

function joined<Input>(pieces: readonly (string | Variable<Input>)[], input: Input): string {
  let text = '';
  for (const piece of pieces) text += typeof piece === 'string' ? piece : piece(input);
  return text;
}
