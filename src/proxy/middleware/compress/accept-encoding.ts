// Choice of a content coding by the client's Accept-Encoding (RFC 9110 §12.5.3). Without the field, or with an empty one,
// the content stays plain: clients that decode say so.
import type { CompressAlgorithm } from '../../../model/middleware/compress-options.ts';
import { listElements } from '../../fields/field-lines.ts';

export type ChooseCoding = (acceptEncoding: string | undefined) => CompressAlgorithm | undefined;

/** Results kept by field value: clients send few different ones. */
const knownMax = 256;
const knownLengthMax = 256;
/** Characters of a field that is read: real ones have less than a hundred, and each element of a long one costs work. */
const fieldLengthMax = 8_192;

/** `algorithms`: in the order that decides between codings of one weight. */
export function compileChoice(algorithms: readonly CompressAlgorithm[]): ChooseCoding {
  const known = new Map<string, CompressAlgorithm | undefined>();
  return (field) => {
    if (field === undefined || field === '' || field.length > fieldLengthMax) return undefined;
    if (field.length > knownLengthMax) return choose(field, algorithms);
    if (known.has(field)) return known.get(field);
    const chosen = choose(field, algorithms);
    if (known.size >= knownMax) known.clear();
    known.set(field, chosen);
    return chosen;
  };
}

function choose(field: string, algorithms: readonly CompressAlgorithm[]): CompressAlgorithm | undefined {
  const weights = weightsOf(field);
  const any = weights.get('*') ?? 0;
  let best: CompressAlgorithm | undefined;
  let bestWeight = 0;
  for (const algorithm of algorithms) {
    const weight = weights.get(algorithm) ?? any;
    if (weight <= bestWeight) continue;
    best = algorithm;
    bestWeight = weight;
  }
  return (weights.get('identity') ?? 0) > bestWeight ? undefined : best;
}

/** Weights by coding in lower case, 0 to 1. An element that is malformed does not count. */
function weightsOf(field: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const element of listElements(field)) {
    const [name = '', ...parameters] = element.split(';').map((part) => part.trim().toLowerCase());
    const weight = weightOf(parameters);
    if (weight !== undefined) weights.set(name === 'x-gzip' ? 'gzip' : name, weight);
  }
  return weights;
}

/** RFC 9110 §12.4.2: at most three digits behind the point. */
const weightPattern = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

function weightOf(parameters: readonly string[]): number | undefined {
  if (parameters.length === 0) return 1;
  const [, digits] = (parameters.length === 1 && weightPattern.exec(parameters[0] ?? '')) || [];
  return digits === undefined ? undefined : Number(digits);
}
