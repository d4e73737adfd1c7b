// Names of a query's parameters. What has no `=` might be a value that stands alone, and is left out.

const namesMax = 32;
const charactersMax = 256;

/** `a=1&b=2&c` → `a&b`; as sent. */
export function parameterNames(query: string): string {
  if (query === '') return '';
  let names = '';
  let count = 0;
  for (let from = 0; from <= query.length && count < namesMax; ) {
    const next = query.indexOf('&', from);
    const end = next < 0 ? query.length : next;
    const equals = query.indexOf('=', from);
    if (equals > from && equals < end) {
      if (names.length + equals - from >= charactersMax) break;
      names += count > 0 ? `&${query.slice(from, equals)}` : query.slice(from, equals);
      count++;
    }
    from = end + 1;
  }
  return names;
}
