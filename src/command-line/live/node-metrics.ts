// Metrics of the API of a node (Prometheus text): values by name and labels.

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const line = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/g;

/** Reads the samples of the named families. */
export function samplesOf(text: string, names: ReadonlySet<string>): ReadonlyMap<string, readonly Sample[]> {
  const found = new Map<string, Sample[]>();
  for (const each of text.split('\n')) {
    const [, name = '', labels = '', value = ''] = line.exec(each) ?? [];
    if (!names.has(name)) continue;
    const read = [...labels.matchAll(label)].map(([, key = '', quoted = '']) => [
      key,
      quoted.replace(/\\(.)/g, (_, c) => (c === 'n' ? '\n' : c)),
    ]);
    found.set(name, [...(found.get(name) ?? []), { labels: Object.fromEntries(read), value: Number(value) }]);
  }
  return found;
}
