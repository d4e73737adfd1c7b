// Parameters of a query as they are recorded: names, and the values of listed ones. What has no `=` might be a value that
// stands alone, and is left out.
import { parametersOf } from '../../expression/cel/value-view.ts';

const namesMax = 32;
const charactersMax = 256;

/** `a=1&b=2` → `a&b`; as sent. Where some are left out, `&` follows: `a=1&b` → `a&`. */
export function parameterNames(query: string): string {
  if (query === '') return '';
  let names = '';
  let count = 0;
  let lacksSome = false;
  for (let from = 0; from < query.length; ) {
    const next = query.indexOf('&', from);
    const end = next < 0 ? query.length : next;
    const equals = query.indexOf('=', from);
    if (equals > from && equals < end) {
      if (count === namesMax || names.length + equals - from >= charactersMax) return `${names}&`;
      names += count > 0 ? `&${query.slice(from, equals)}` : query.slice(from, equals);
      count++;
    } else if (end > from) lacksSome = true;
    from = end + 1;
  }
  return lacksSome ? `${names}&` : names;
}

/** First value of each of the parameters, decoded; undefined where the query does not have it. */
export function parameterValues(query: string, names: readonly string[]): readonly (string | undefined)[] {
  const parameters = parametersOf(query);
  return names.map((name) => parameters.get(name)?.replaceAll('\0', ''));
}
