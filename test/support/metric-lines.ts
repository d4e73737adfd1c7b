// Prometheus text as the lines of one family, or the value of one series.

/** Lines of every series of the family, histogram parts included, without comments. */
export const linesOf = (text: string, family: string): string[] =>
  text.split('\n').filter((line) => new RegExp(`^${family}(?:_bucket|_sum|_count)?[ {]`).test(line));

/** Value of a series as it is written before the space: `name{label="x"}`. */
export function sampleOf(text: string, series: string): number {
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  if (line === undefined) throw new Error(`no series ${series}`);
  return Number(line.slice(series.length + 1));
}

/** Names of all families, and that each is described once. */
export function familiesOf(text: string): string[] {
  const names = [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name = '']) => name);
  const described = [...text.matchAll(/^# HELP (\S+) \S/gm)].map(([, name = '']) => name);
  if (names.join() !== described.join()) throw new Error('a family lacks its type or its description');
  if (new Set(names).size !== names.length) throw new Error(`a family comes twice: ${names.join(', ')}`);
  return names;
}
